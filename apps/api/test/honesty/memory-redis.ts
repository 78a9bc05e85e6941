import { StoreError, type WindowLoss } from '@ranbook/rules'
import type { WindowsDeps } from '../../src/ledger/create-windows.ts'
import { createMemoryWindow } from './forgetting-store.ts'
import type { HonestyWorld } from './world.ts'

/** Redis and the watch over it: what it lost is declared at the next look, as long as nobody looks nobody knows. */
export type MemoryRedis = NonNullable<WindowsDeps['redis']> & NonNullable<HonestyWorld['redis']>

export function createMemoryRedis(
  { now }: { now: () => number },
  declareLoss: (loss: WindowLoss) => Promise<void>,
): MemoryRedis {
  let down = false
  /** It was away, and nobody has looked since. */
  let doubtful = false
  let lost = false
  let wholeAt = now()
  const cells = createMemoryWindow({ now }, () => {
    if (down) throw new StoreError('window_unavailable', 'Redis is down')
  })
  return {
    claims: cells,
    usable: () => !down && !doubtful,
    async confirmed() {
      if (down) return false
      if (lost) {
        const span = { fromAt: wholeAt, toAt: now(), untilAt: now() + 31_622_400_000 }
        await declareLoss({ class: null, cause: 'flushed', ...span, detail: null })
      }
      lost = false
      doubtful = false
      wholeAt = now()
      return true
    },
    setDown(value) {
      down = value
      doubtful ||= value
    },
    async flush() {
      lost = true
      await cells.clear()
    },
  }
}
