import type { RedisLoss, RedisStateStore } from '../stores/postgres/redis-state-store.ts'
import { judgeRedis, type RedisMaster, type SeenMaster, sameMasters } from './judge-redis.ts'
import type { RedisMasters } from './look-at-redis.ts'

/** A marker that nobody renewed for this long is gone, and would be taken for a flush. */
export const markerTtlMs = 30 * 24 * 3_600_000
/** How far back the shared state may be for a process that starts: the span of a loss then begins that much earlier. */
const keepEveryMs = 10_000
/** What a failover or a restart may lose, by replicas or a disk that were behind. */
const behindMs = 10_000
/** Who writes markers is done within milliseconds; one that takes this long has died, and another does it. */
const markingMaxMs = 5000

/**
 * What all processes know of Redis. `goodAt`: all was there then; `marking`: since when markers are being written, as
 * nobody grants until they stand. Both in ms by the ledger's clock.
 */
type RedisState = { masters: RedisMaster[]; goodAt: number; marking: number | null }
/** With the text that it is kept as. */
type KeptState = RedisState & { text: string }

export type RedisAccountDeps = {
  redis: RedisMasters
  state: RedisStateStore
  /** The ledger's clock in ms. */
  storeNow: () => number
  /** A text that no other call ever gives. */
  newEpoch: () => string
  /** Told after it is declared. */
  lost: (loss: RedisLoss) => void
}

/** What Redis should still have, compared with what it has. */
export type RedisAccount = {
  /** Reads what was known, where this process knows nothing yet. Throws StoreError. */
  load(): Promise<readonly RedisMaster[]>
  /** Is everything as it was known, so that nothing was lost? `askedAt`: from before the look, by the ledger's clock. */
  isWhole(seen: readonly SeenMaster[], askedAt: number): boolean
  /** Shares with all processes that everything was there. Call it after `isWhole`. Throws StoreError. */
  share(seen: readonly SeenMaster[], askedAt: number): Promise<void>
  /**
   * Where not all is as it was known: what may be lost is declared, here or by another process, and missing markers are
   * written. To be looked at again. Throws StoreError, and where Redis can't be asked.
   */
  settle(seen: readonly SeenMaster[], askedAt: number): Promise<void>
}

/** The account that this process keeps, with the state that it shares with all others. */
export function createRedisAccount({ redis, state, storeNow, newEpoch, lost }: RedisAccountDeps): RedisAccount {
  let known: KeptState | null = null
  let keptAt = Number.NEGATIVE_INFINITY

  /** Writes what follows `standing`; false where another process was faster. */
  const keep = async (standing: KeptState | null, next: RedisState, losses: readonly RedisLoss[]): Promise<boolean> => {
    const text = JSON.stringify(next)
    if (!(await state.write(standing?.text ?? null, text, losses))) return false
    known = { ...next, text }
    keptAt = next.goodAt
    losses.forEach(lost)
    return true
  }

  const mark = async (masters: readonly RedisMaster[], unmarked: readonly SeenMaster[]): Promise<void> => {
    await redis.eachMaster(async (node) => {
      const missing = unmarked.some(({ id }) => id === node.id)
      const master = masters.find(({ id }) => id === node.id)
      if (missing && master !== undefined) await node.setNx(master.markerKey, master.epoch, markerTtlMs)
    })
  }

  /** Compares with what stands for all, which another process may have moved on. */
  const settle = async (seen: readonly SeenMaster[], askedAt: number): Promise<void> => {
    const before = known
    const standing = keptState(await state.read())
    known = standing
    const now = storeNow()
    if (standing !== null && standing.marking !== null && now - standing.marking < markingMaxMs) return
    const losses = lossesOf(before, standing, seen, now)
    const masters = seen.map((master) => masterOf(master, newEpoch))
    const unmarked = seen.filter(({ epoch }) => epoch === null)
    const next: RedisState = { masters, goodAt: askedAt, marking: null }
    if (standing !== null && standing.marking === null && sameMasters(standing.masters, masters)) {
      // Another process has told of it, but this one may have gone on with a server that was replaced.
      if (losses.length > 0) await state.declare(losses)
      losses.forEach(lost)
      known = { ...standing, goodAt: askedAt }
      keptAt = standing.goodAt
    } else if (unmarked.length === 0) {
      await keep(standing, next, losses)
    } else if (await keep(standing, { ...next, marking: now }, losses)) {
      await mark(masters, unmarked)
      await keep(known, next, [])
    }
  }

  return {
    async load() {
      known ??= keptState(await state.read())
      return known?.masters ?? []
    },

    isWhole(seen, askedAt) {
      if (known === null || known.marking !== null || seen.some(({ epoch }) => epoch === null)) return false
      if (judgeRedis(known.masters, seen).length > 0) return false
      known.goodAt = askedAt
      return true
    },

    async share(seen, askedAt) {
      const masters = seen.map((master) => masterOf(master, newEpoch))
      if (known !== null && askedAt - keptAt < keepEveryMs && sameMasters(known.masters, masters)) return
      if (!(await keep(known, { masters, goodAt: askedAt, marking: null }, []))) await settle(seen, askedAt)
    },

    settle,
  }
}

/**
 * What may be lost: by what stands for all and, where that is up to date already, by what this process alone knew, for
 * it may have granted on a server that others had left.
 */
function lossesOf(
  own: RedisState | null,
  standing: RedisState | null,
  seen: readonly SeenMaster[],
  now: number,
): RedisLoss[] {
  if (standing === null) return []
  // Where markers were being written, the loss of the old ones is declared already.
  const marked = standing.masters.filter(
    ({ markerKey }) =>
      standing.marking === null || seen.some((one) => one.markerKey === markerKey && one.epoch !== null),
  )
  const forAll = judgeRedis(marked, seen)
  const findings =
    forAll.length > 0 || own === null ? forAll : judgeRedis(own.masters, seen).filter(({ moved }) => moved)
  const goodAt =
    own !== null && (forAll.length === 0 || sameMasters(own.masters, standing.masters)) ? own.goodAt : standing.goodAt
  const causes = [...new Set(findings.map(({ cause }) => cause))]
  return causes.map((cause) => ({
    cause,
    fromAt: cause === 'failed_over' ? goodAt - behindMs : goodAt,
    toAt: now,
    detail: findings.flatMap((finding) => (finding.cause === cause ? [finding.detail] : [])).join('; '),
  }))
}

function masterOf({ id, runId, evicted, markerKey, epoch }: SeenMaster, newEpoch: () => string): RedisMaster {
  return { id, runId, evicted, markerKey, epoch: epoch ?? newEpoch() }
}

function keptState(text: string | null): KeptState | null {
  return text === null ? null : { ...(JSON.parse(text) as RedisState), text }
}
