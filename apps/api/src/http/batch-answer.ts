import type { Route } from '@ranbook/contract'
import { JsonRefusal } from '@ranbook/rules'
import type { Caller } from '../access/caller.ts'
import { ItemFailure } from '../ledger/item-failure.ts'
import { type Answer, jsonAnswer } from './answer.ts'
import { keep } from './assets.ts'
import type { Call } from './call.ts'
import type { HttpDeps } from './http-deps.ts'
import { HttpProblem, problemJson } from './problem.ts'
import { problemOfError } from './problem-of-error.ts'

/**
 * Items that the ledger is asked for together. Their records are in memory at once: at 256 KiB of result each 25 MiB,
 * and once more while they are read. A whole batch could hold ten times that.
 */
const sliceItems = 100

export type Batch<Item, Answered> = {
  route: Route
  /** The list in the answer. */
  list: string
  /** Member of an answer that is a problem, as JSON text. */
  refused: string
  items: readonly unknown[]
  /** Throws what is wrong with an item. */
  parse: (item: unknown, caller: Caller) => Item
  /** One answer per item, in order. What it throws is the answer of them all. */
  ask: (items: readonly Item[], caller: Caller) => Promise<readonly (Answered | ItemFailure)[]>
  /** JSON text. Throws where the answer is a refusal. */
  write: (answer: Answered, item: Item) => string
}

/**
 * Each item's answer, in order; a fault of one is that item's answer and harms no other. Worked on slice by slice as the
 * answer is read, so that memory stays level however large it gets. The caller is checked again before each slice.
 */
export function batchAnswer<Item, Answered>(deps: HttpDeps, call: Call, batch: Batch<Item, Answered>): Answer {
  return { ...jsonAnswer(''), body: batchTexts(deps, call, batch) }
}

async function* batchTexts<Item, Answered>(
  deps: HttpDeps,
  call: Call,
  batch: Batch<Item, Answered>,
): AsyncGenerator<string> {
  yield `{"${batch.list}":[`
  for (let from = 0; from < batch.items.length; from += sliceItems) {
    let separator = from === 0 ? '' : ','
    for await (const text of sliceTexts(deps, call, batch, batch.items.slice(from, from + sliceItems))) {
      yield separator + text
      separator = ','
    }
  }
  yield ']}'
}

async function* sliceTexts<Item, Answered>(
  deps: HttpDeps,
  call: Call,
  { route, refused, parse, ask, write }: Batch<Item, Answered>,
  given: readonly unknown[],
): AsyncGenerator<string> {
  const failures = new Map<unknown, string>()
  const failWith = (error: unknown): string => {
    // What failed for many is told of and logged once.
    const known = failures.get(error)
    if (known !== undefined) return known
    const problem = problemOfError(error, deps.log, route.path, call.requestId)
    const text = `{${refused},"problem":${problemJson(problem, call.requestId)}}`
    failures.set(error, text)
    return text
  }

  const caller = keep(call.authorize)
  const texts: (string | { answer: Answered; item: Item })[] = new Array(given.length)
  const asked: { at: number; item: Item }[] = []
  for (const [at, value] of given.entries()) {
    try {
      if (value instanceof JsonRefusal) throw new HttpProblem(value.code, value.detail)
      asked.push({ at, item: parse(value, caller()) })
    } catch (error) {
      texts[at] = failWith(error)
    }
  }
  if (asked.length > 0) {
    const items = asked.map(({ item }) => item)
    const answers = await ask(items, caller()).catch((error) => items.map(() => new ItemFailure(error)))
    for (const [index, { at, item }] of asked.entries()) {
      const answer = answers[index] as Answered | ItemFailure
      texts[at] = answer instanceof ItemFailure ? failWith(answer.reason) : { answer, item }
    }
  }

  // One by one, so that no more than one of them is in memory beside its record.
  for (const text of texts) {
    if (typeof text === 'string') yield text
    else yield written(text)
  }

  function written({ answer, item }: { answer: Answered; item: Item }): string {
    try {
      return write(answer, item)
    } catch (error) {
      return failWith(error)
    }
  }
}
