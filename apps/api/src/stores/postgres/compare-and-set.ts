import type { Change, LedgerRecord } from '@ranbook/rules'
import { distinctRounds, type Placed } from '../distinct-rounds.ts'
import { changeParameters, traceParameters } from './change-parameters.ts'
import { CHANGE_RECORDS, CHANGE_RECORDS_WITH_TRACES, DRAW_FENCING_TOKENS } from './change-statements.ts'
import type { Runner } from './lane.ts'
import { storedDigest } from './stored-fields.ts'

type Guarded = Placed<{ digest: string; change: Change }>

/** See `RecordStore.compareAndSet`. */
export async function compareAndSet(
  runner: Runner,
  changes: readonly Change[],
): Promise<({ record: LedgerRecord } | null)[]> {
  const outcomes: ({ record: LedgerRecord } | null)[] = new Array(changes.length).fill(null)
  const items = changes.map((change) => ({ digest: change.record.digest, change }))
  for (const round of distinctRounds(items, ({ change }) => change.expectVersion)) {
    const drawn = await drawFencingTokens(runner, round)
    const leavesTraces = ({ item: { change } }: Guarded): boolean => change.archive !== null || change.audit !== null
    const traced = drawn.filter(leavesTraces)
    const plain = drawn.filter((placed) => !leavesTraces(placed))
    await write(runner, CHANGE_RECORDS, plain, changeParameters, outcomes)
    await write(
      runner,
      CHANGE_RECORDS_WITH_TRACES,
      traced,
      (written) => [...changeParameters(written), ...traceParameters(written)],
      outcomes,
    )
  }
  return outcomes
}

/** The round with fencing numbers in its grants. A number whose change is not applied is burnt. */
async function drawFencingTokens(runner: Runner, round: readonly Guarded[]): Promise<Guarded[]> {
  const grants = round.filter(({ item }) => item.change.grants).length
  if (grants === 0) return [...round]
  const drawn = await runner.run<readonly [fencingToken: string]>(DRAW_FENCING_TOKENS, [grants])
  return round.map(({ item: { digest, change }, at }) => {
    const [number] = (change.grants ? drawn.pop() : undefined) ?? []
    if (number === undefined) return { item: { digest, change }, at }
    return { item: { digest, change: { ...change, record: { ...change.record, fencingToken: Number(number) } } }, at }
  })
}

async function write(
  runner: Runner,
  statement: string,
  placed: readonly Guarded[],
  parametersOf: (changes: readonly Change[]) => (string | null)[],
  outcomes: ({ record: LedgerRecord } | null)[],
): Promise<void> {
  if (placed.length === 0) return
  const rows = await runner.run<readonly [id: string]>(statement, parametersOf(placed.map(({ item }) => item.change)))
  const places = new Map(placed.map((one) => [one.item.digest, one]))
  for (const [id] of rows) {
    const { item, at } = places.get(storedDigest(id)) as Guarded
    outcomes[at] = { record: item.change.record }
  }
}
