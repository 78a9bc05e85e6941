import { randomUUID } from 'node:crypto'
import { testAdminKey } from '../process/start-ranbook.ts'
import type { Span } from './start-window-service.ts'

/** As many at once as the issue names. */
const clients = 10
/** A call of so many items of each client just fits into what may be in flight for Redis. */
const batchItems = 200
const deliveriesPerKey = 3

/** One acknowledged grant; times in ms since 1970. */
export type WindowGrant = { key: string; invokedAt: number; answeredAt: number }

export type WindowLoad = {
  grants: WindowGrant[]
  claims: number
  tookMs: number
  /** How often an item was answered 503 and asked again. */
  refused: number
}

type Item = { key: string; token: string }
type Decision = { outcome?: string; id?: string; problem?: { code: string; status: number } }

/**
 * Claims each key three times, and completes every other one that was granted. What is answered 503 is asked again with
 * the same token.
 *
 * @param order `together`: all deliveries of a key at once, from different clients. `apart`: all keys once, then again.
 * @param halfway is called once, in the middle; the clients go on meanwhile.
 */
export async function windowLoad(
  url: string,
  keys: readonly string[],
  order: 'together' | 'apart',
  halfway: () => Promise<void> = async () => {},
): Promise<WindowLoad> {
  const chunks: string[][] = []
  for (let from = 0; from < keys.length; from += batchItems) chunks.push(keys.slice(from, from + batchItems))
  const deliveries = Array.from({ length: deliveriesPerKey })
  const work =
    order === 'together' ? chunks.flatMap((chunk) => deliveries.map(() => chunk)) : deliveries.flatMap(() => chunks)
  const load: WindowLoad = { grants: [], claims: keys.length * deliveriesPerKey, tookMs: 0, refused: 0 }
  let next = 0
  let fault: Promise<void> = Promise.resolve()

  const claimAll = async (items: readonly Item[], invokedAt: number): Promise<void> => {
    const claims = items.map(({ key, token }) => ({
      class: 'cache.refuse',
      consumer: 'observer',
      key,
      claim_token: token,
    }))
    const decisions = await post(url, '/v1/claims/batch', { claims }, 'decisions')
    const answeredAt = Date.now()
    const again: Item[] = []
    const settlements: object[] = []
    decisions.forEach(({ outcome, id, problem }, at) => {
      const item = items[at]
      if (item === undefined) throw new Error('more decisions than claims')
      if (problem !== undefined) {
        if (problem.status !== 503) throw new Error(`a claim was answered ${problem.status} ${problem.code}`)
        again.push(item)
      } else if (outcome === 'claimed') {
        load.grants.push({ key: item.key, invokedAt, answeredAt })
        if (load.grants.length % 2 === 0) settlements.push({ id, action: 'complete', claim_token: item.token })
      }
    })
    if (settlements.length > 0) await post(url, '/v1/settlements', { settlements }, 'results')
    load.refused += again.length
    if (again.length === 0) return
    // A client that comes back at once would only be refused again.
    await pause()
    // A grant that was answered with 503 first counts as invoked when it first was.
    await claimAll(again, invokedAt)
  }

  const run = async (): Promise<void> => {
    for (let chunk = work[next++]; chunk !== undefined; chunk = work[next++]) {
      if (next === Math.floor(work.length / 2)) fault = halfway()
      await claimAll(
        chunk.map((key) => ({ key, token: randomUUID() })),
        Date.now(),
      )
    }
  }
  const startedAt = performance.now()
  await Promise.all(Array.from({ length: clients }, run))
  await fault
  load.tookMs = performance.now() - startedAt
  return load
}

/** Grants of keys that were granted before: all of them are inside the window, which is longer than the test. */
export function secondGrants(grants: readonly WindowGrant[]): { first: WindowGrant; again: WindowGrant }[] {
  const firsts = new Map<string, WindowGrant>()
  return grants.flatMap((grant) => {
    const first = firsts.get(grant.key)
    if (first === undefined) firsts.set(grant.key, grant)
    return first === undefined ? [] : [{ first, again: grant }]
  })
}

/** Second grants that no declared span explains: the first one may be lost by it, and the key be granted again then. */
export function undeclared(grants: readonly WindowGrant[], spans: readonly Span[]): string[] {
  return secondGrants(grants)
    .filter(
      ({ first, again }) =>
        !spans.some(
          ({ fromAt, toAt, untilAt }) =>
            first.invokedAt <= toAt && again.answeredAt >= fromAt && again.invokedAt <= untilAt,
        ),
    )
    .map(({ first, again }) => `${again.key} was granted at ${first.answeredAt} and at ${again.answeredAt}`)
}

async function post(url: string, path: string, body: object, list: 'decisions' | 'results'): Promise<Decision[]> {
  for (;;) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testAdminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const answer = (await response.json()) as Record<string, unknown>
    if (response.status === 200) return answer[list] as Decision[]
    if (response.status !== 503) throw new Error(`${path} was answered ${response.status} ${JSON.stringify(answer)}`)
    await pause()
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50))
}
