import { type Policy, type PolicyInput, policySchema, type Verdict } from '@ranbook/contract'
import {
  type ClaimRequest,
  noDetails,
  type ParsedRecordId,
  recordDigest,
  type SettleCommand,
  StoreError,
} from '@ranbook/rules'
import { claim } from '../../src/ledger/claim.ts'
import { ItemFailure } from '../../src/ledger/item-failure.ts'
import { PoliciesStale } from '../../src/ledger/ledger-deps.ts'
import { type LookupDeps, lookup, type Question } from '../../src/ledger/lookup.ts'
import { settle } from '../../src/ledger/settle.ts'
import type { SeededRandom } from '../oracle/seeded-random.ts'
import { type Identity, overAt, type Run, wrongIn } from './observer.ts'
import type { HonestyProcess, HonestyWorld } from './world.ts'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

const everything = { classes: ['*'], consumer: null }
const consumers = ['one', 'two']
/** The classes of every history. */
export const historyClasses = ['page.viewed', 'page.seen', 'mail.sent', 'charge.made']

const palette: readonly Policy[] = (
  [
    {},
    { key_retention_ms: 6 * hourMs },
    { key_retention_ms: 3 * dayMs, details_retention_ms: hourMs },
    { store: 'window', window_ms: minuteMs },
    { store: 'window', window_ms: hourMs },
    { store: 'window', window_ms: dayMs, window_outage: 'fall_back' },
    { store: 'window', window_ms: 4 * dayMs },
  ] satisfies PolicyInput[]
).map((policy) => policySchema.parse({ ...policy, max_attempts: 3, backoff: { initial_ms: 0, max_ms: 0 } }))

const endings = { complete: 'completed', fail: 'failed', release: 'released' } as const

/** A fault to be seeded: what one lookup asks with instead of the product's own. */
export type SpoiltLookups = (deps: LookupDeps) => LookupDeps

export type HistoryOptions = {
  world: HonestyWorld
  random: SeededRandom
  lookups: number
  /** Drawn anew for each history, so that no two know a key of each other's. */
  name: string
  spoil?: SpoiltLookups
}

/**
 * `wrong`: see `wrongIn`. `verdicts`: how often each was given. `neverRan`: lookups of keys that nobody had claimed, and
 * how many of them were told so.
 */
export type HonestyReport = { wrong: string[]; verdicts: Map<Verdict, number>; neverTold: number; neverRan: number }

/** A grant whose consumer has not spoken yet. */
type OpenRun = { run: Run; id: ParsedRecordId; claimToken: string }

/**
 * Consumers claim, settle and fall silent, policies move, retention runs, Redis fails and is flushed, and time passes,
 * also in the middle of lookups. What consumers were answered is all that the observer knows.
 */
export async function honestyHistory(options: HistoryOptions): Promise<HonestyReport> {
  const { world, random, name } = options
  const runs: Run[] = []
  let open: OpenRun[] = []
  let tokens = 0
  const keys = Array.from({ length: 24 }, (_, at) => `${name}:${at}`)
  const report: HonestyReport = { wrong: [], verdicts: new Map(), neverTold: 0, neverRan: 0 }

  const process = (): HonestyProcess => random.pick(world.processes)
  const anyIdentity = (): Identity => ({
    consumer: random.pick(consumers),
    class: random.pick(historyClasses),
    // The last third is never claimed.
    key: random.pick(keys.slice(0, 16)),
  })

  async function claimOne(): Promise<void> {
    const identity = anyIdentity()
    tokens += 1
    const request: ClaimRequest = {
      ...identity,
      digest: recordDigest(identity.consumer, identity.class, identity.key),
      claimToken: `00000000-0000-4000-8000-${tokens.toString(16).padStart(12, '0')}`,
      owner: null,
      leaseMs: random.pick([secondMs, minuteMs, hourMs, 5 * hourMs]),
      fingerprint: null,
      details: noDetails,
    }
    const answer = await refusable(async () => (await claim(process().ledger, [request]))[0])
    if (answer?.outcome !== 'claimed') return
    const { record } = answer
    const run: Run = {
      identity,
      grantedAt: record.claimedAt,
      leases: [{ setAt: record.claimedAt, until: record.leaseExpiresAt ?? record.claimedAt }],
      end: null,
      degraded: record.window?.degraded ?? false,
    }
    runs.push(run)
    const id: ParsedRecordId = { store: record.window === null ? 'ledger' : 'window', digest: record.digest }
    open.push({ run, id, claimToken: request.claimToken })
  }

  async function settleOne(): Promise<void> {
    if (open.length === 0) return
    const holder = random.pick(open)
    const { run, id, claimToken } = holder
    const command = random.pick<SettleCommand>([
      { verb: 'complete', result: null },
      { verb: 'complete', result: '{"n":1}' },
      { verb: 'fail', error: '{"message":"no"}', retryable: random.chance(0.8), retryAfterMs: null },
      { verb: 'release' },
      { verb: 'extend', leaseMs: random.pick([minuteMs, 2 * hourMs]) },
    ])
    const answer = await refusable(
      async () => (await settle(process().ledger, everything, [{ ...id, claimToken, command }]))[0],
    )
    if (answer === null) return
    if (answer.kind === 'settled' && command.verb === 'extend') {
      run.leases.push({ setAt: answer.now, until: answer.record.leaseExpiresAt ?? answer.now })
      return
    }
    open = open.filter((one) => one !== holder)
    if (answer.kind !== 'settled' || command.verb === 'extend') return
    run.end = { at: answer.record.endedAt ?? answer.now, as: endings[command.verb] }
  }

  async function pass(scale: number): Promise<void> {
    await world.pass(1 + random.below(scale))
    // A process whose time did not pass could not have looked again.
    for (const one of world.processes) if (scale > secondMs || random.chance(0.3)) await refusable(() => one.tick())
  }

  async function meddle(): Promise<void> {
    const share = random.next()
    if (share < 0.3) return claimOne()
    if (share < 0.5) return settleOne()
    if (share < 0.89) return pass(random.pick([100, secondMs, minuteMs, hourMs, hourMs, 12 * hourMs]))
    if (share < 0.9) return world.prune()
    if (share < 0.94) {
      await world.putPolicy(random.pick(historyClasses), random.pick(palette))
      await refusable(() => process().tick())
      return
    }
    if (share < 0.96) open = open.filter(() => random.chance(0.7))
    else if (share < 0.985) world.redis?.setDown(random.chance(0.4))
    else await world.redis?.flush()
  }

  /** What makes a record go between two reads of one lookup comes more often. */
  async function meddleWithin(): Promise<void> {
    const share = random.next()
    if (share < 0.4) return world.prune()
    if (share < 0.7) return pass(random.pick([minuteMs, hourMs, 2 * dayMs]))
    return meddle()
  }

  function draw(now: number): Question {
    // Of a late run most stores know something, and lose it soon.
    const late = runs.slice(-6)
    if (late.length > 0 && random.chance(0.25)) {
      const { identity, grantedAt } = random.pick(late)
      return { q: identity.key, class: identity.class, consumer: identity.consumer, at: grantedAt }
    }
    const q = random.pick(keys)
    const about = runs.filter(({ identity }) => identity.key === q)
    const [limited, some] = [random.chance(0.5), about.length > 0 ? random.pick(about).identity : anyIdentity()]
    return {
      q,
      class: limited ? some.class : null,
      consumer: limited && random.chance(0.5) ? some.consumer : null,
      at: timeAsked(about, now),
    }
  }

  function timeAsked(about: readonly Run[], now: number): number | null {
    const share = random.next()
    if (share < 0.25) return null
    if (share < 0.6 && about.length > 0) {
      const run = random.pick(about)
      return Math.max(0, random.pick([run.grantedAt, overAt(run), run.grantedAt - 1, run.grantedAt - 30 * secondMs]))
    }
    return now - random.below(random.pick([minuteMs, hourMs, dayMs, 6 * dayMs]))
  }

  async function ask(): Promise<void> {
    const [askedAt, runsBefore] = [await world.now(), runs.length]
    const question = draw(askedAt)
    const deps = meddledWith(process().lookups, async () => {
      if (random.chance(0.05)) await meddleWithin()
    })
    const answer = await lookup(options.spoil === undefined ? deps : options.spoil(deps), everything, question)
    if (answer.kind !== 'answered') throw new Error('few pairs are seen')
    const answeredAt = await world.now()
    report.wrong.push(...wrongIn({ question, runsBefore, askedAt, answeredAt, answer }, runs))
    report.verdicts.set(answer.verdict, (report.verdicts.get(answer.verdict) ?? 0) + 1)
    if (!runs.some(({ identity }) => identity.key === question.q)) {
      report.neverRan += 1
      if (answer.verdict === 'never') report.neverTold += 1
    }
  }

  // The first claims see classes under policies of every kind.
  for (const className of historyClasses) await world.putPolicy(className, random.pick(palette))
  for (const one of world.processes) await one.tick()
  for (let asked = 0; asked < options.lookups; asked++) {
    const between = random.below(4)
    for (let step = 0; step < between; step++) await meddle()
    await ask()
  }
  return report
}

/** Null where the service refused, which changes nothing that the observer could have seen. */
async function refusable<Answer>(call: () => Promise<Answer | ItemFailure | undefined>): Promise<Answer | null> {
  try {
    const answer = await call()
    if (!(answer instanceof ItemFailure)) return answer ?? null
    throw answer.reason
  } catch (error) {
    const refused = error instanceof StoreError || error instanceof PoliciesStale || isMoving(error)
    if (!refused) throw error
    return null
  }
}

function isMoving(error: unknown): boolean {
  return error instanceof Error && error.name === 'ClassMoving'
}

/** The same, with something else happening before each of its calls. */
function meddledWith({ store, windows, classes: book, now }: LookupDeps, meddle: () => Promise<void>): LookupDeps {
  const after =
    <Asked extends unknown[], Answer>(call: (...asked: Asked) => Promise<Answer>) =>
    async (...asked: Asked): Promise<Answer> => {
      await meddle()
      return call(...asked)
    }
  return {
    store: { search: after(store.search), readHistory: after(store.readHistory) },
    windows: {
      placesAsked: windows.placesAsked,
      confirmed: after(windows.confirmed),
      storeAt: (place) => {
        const cells = windows.storeAt(place)
        return { ...cells, read: after(cells.read) }
      },
    },
    classes: {
      pairsSeen: after(book.pairsSeen),
      readKept: after(book.readKept),
      ledgerBeganAt: book.ledgerBeganAt,
    },
    now,
  }
}
