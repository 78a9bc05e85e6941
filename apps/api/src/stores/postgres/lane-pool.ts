import { StoreError } from '@ranbook/rules'
import type { Lane, Runner, Session, Sessions } from './lane.ts'

/** Whoever finds every connection busy for this long is refused: by then a client is better off asking again. */
const defaultWaitLimitMs = 250
/** More would not be served within the limit anyway. */
const waitersMax = 1000

export type LanePool = Runner & Sessions & { close(): Promise<void> }

/**
 * A few lanes that share the work. Waiting for a free one is bounded in length and in time, then it is `StoreError`
 * `overloaded`.
 */
export function createLanePool(lanes: readonly Lane[], waitLimitMs: number = defaultWaitLimitMs): LanePool {
  // The lane used last is taken first: it is the one whose connection stands.
  const idle = [...lanes]
  const waiting: ((lane: Lane) => void)[] = []

  function nextFree(): Promise<Lane> {
    if (waiting.length >= waitersMax) return Promise.reject(busy(waitLimitMs))
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(take), 1)
        reject(busy(waitLimitMs))
      }, waitLimitMs)
      const take = (lane: Lane): void => {
        clearTimeout(timer)
        resolve(lane)
      }
      waiting.push(take)
    })
  }

  async function onFreeLane<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    const lane = idle.pop() ?? (await nextFree())
    try {
      return await work(lane)
    } finally {
      const next = waiting.shift()
      if (next) next(lane)
      else idle.push(lane)
    }
  }

  return {
    use: <T>(work: (session: Session) => Promise<T>) => onFreeLane((lane) => lane.use(work)),
    run: <Row>(statement: string, parameters: readonly (string | number | null)[]) =>
      onFreeLane((lane) => lane.run<Row>(statement, parameters)),

    async close() {
      await Promise.all(lanes.map((lane) => lane.close()))
    },
  }
}

function busy(waitLimitMs: number): StoreError {
  return new StoreError('overloaded', `every connection was busy for ${waitLimitMs} ms`)
}
