import type { WindowLossCause } from '@ranbook/rules'

/** One master as it was last known to be good. `epoch` is what its marker holds, `evicted` its count of evicted keys. */
export type RedisMaster = { id: string; runId: string; evicted: number; markerKey: string; epoch: string }

/** One master as it answers now. `epoch` null: its marker is missing. */
export type SeenMaster = Omit<RedisMaster, 'epoch'> & { epoch: string | null; maxmemory: number; policy: string }

/** Why records may be lost. `moved`: another server answers for what this one held, so each process met it by itself. */
export type RedisFinding = { cause: Exclude<WindowLossCause, 'outage'>; moved: boolean; detail: string }

/**
 * What may have been lost between two checks, one finding per master at most. None where nothing was known before: then
 * nothing was granted there.
 */
export function judgeRedis(known: readonly RedisMaster[], seen: readonly SeenMaster[]): RedisFinding[] {
  const gone = known.filter(({ id }) => !seen.some((master) => master.id === id))
  return seen.flatMap((master) => {
    const before = known.find(({ id }) => id === master.id)
    const finding = before === undefined ? judgeNewcomer(gone, master) : judgeSame(before, master)
    return finding === null ? [] : [finding]
  })
}

function judgeSame(before: RedisMaster, { id, runId, evicted, markerKey, epoch }: SeenMaster): RedisFinding | null {
  const found = (cause: RedisFinding['cause'], what: string) => ({ cause, moved: false, detail: `${id} ${what}` })
  const restarted = runId !== before.runId
  // A count that was set back and grew again has grown.
  const evicting = evicted > 0 && (restarted || evicted !== before.evicted)
  // Its marker's slot went to another master, and the marker with it.
  const resharded = markerKey !== before.markerKey && !restarted
  if (epoch === null && !resharded) {
    if (restarted) return found('empty', 'was started again without its data')
    return evicting ? found('evicted', 'evicted keys') : found('flushed', 'was flushed')
  }
  if (evicting) return found('evicted', 'evicted keys')
  if (resharded) return null
  if (epoch !== before.epoch) return found('replaced', 'holds the data of another time')
  return restarted ? found('failed_over', 'was started again') : null
}

/** A master nobody knew: it joined, or answers for one that is gone. */
function judgeNewcomer(gone: readonly RedisMaster[], { id, markerKey, epoch }: SeenMaster): RedisFinding | null {
  const former = gone.find((one) => one.markerKey === markerKey)
  if (former === undefined) return null
  const found = (cause: RedisFinding['cause'], what: string) => ({
    cause,
    moved: true,
    detail: `${id} answers for ${former.id}${what}`,
  })
  if (epoch === null) return found('replaced', ', without its data')
  return epoch === former.epoch ? found('failed_over', '') : found('replaced', ', with the data of another time')
}

/** Do both name the same masters in the same state? In whatever order. */
export function sameMasters(some: readonly RedisMaster[], others: readonly RedisMaster[]): boolean {
  return masterTexts(some) === masterTexts(others)
}

function masterTexts(masters: readonly RedisMaster[]): string {
  return masters
    .map(({ id, runId, evicted, markerKey, epoch }) => JSON.stringify([id, runId, evicted, markerKey, epoch]))
    .toSorted()
    .join()
}
