import { randomUUID } from 'node:crypto'
import { testAdminKey } from '../process/start-ranbook.ts'
import type { History, Standing } from './history.ts'

/** As clients do: the outcome is unknown then. */
const giveUpMs = 10_000

/** Enough to keep both cores busy, few enough that the server and not the clients decides the pace. */
const clients = 12
/** A client takes one of the newest keys or one of the next: each is raced for by several, and met again afterwards. */
const newestKeys = 3
const nextKeys = 3
/** Every so manieth claim goes to a key that somebody abandoned. */
const revisitEvery = 6
/** The shortest lease there is, so that abandoned claims are taken over within a round. */
const leaseMs = 1000
/** Every so manieth grant is abandoned, as by a consumer that dies. */
const abandonEvery = 8
/** How long a client goes on asking what became of a request: longer than any outage of these tests. */
const patienceMs = 30_000

export type Load = {
  readonly history: History
  /** Statuses that no client should ever see, with their bodies. */
  readonly unexpected: string[]
  /** How often each status was answered; 0 counts connections that failed. */
  readonly statuses: Map<number, number>
  acknowledged(): number
  /** Ends the clients; each first learns what became of its last request. */
  stop(): Promise<void>
}

type Answer = { status: number; body: Record<string, unknown>; invokedAt: number; answeredAt: number }

/** Consumers that race for keys, complete most and abandon some, and log only what was answered in full. */
export function startLoad(url: string, prefix: string): Load {
  const history: History = { grants: [], completions: [], duplicates: [] }
  const unexpected: string[] = []
  const statuses = new Map<number, number>()
  const abandoned: string[] = []
  const granted = new Set<string>()
  let stopped = false

  const chooseKey = (): string => {
    const revisited = abandoned[Math.floor(Math.random() * revisitEvery * abandoned.length)]
    const at = granted.size - newestKeys + Math.floor(Math.random() * (newestKeys + nextKeys))
    return revisited ?? `${prefix}:${Math.max(0, at)}`
  }

  const once = async (path: string, body: object): Promise<{ status: number; text: string }> => {
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${testAdminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        // A connection that is on its way to a worker when that is killed is never answered.
        signal: AbortSignal.timeout(giveUpMs),
      })
      return { status: response.status, text: await response.text() }
    } catch {
      return { status: 0, text: '' }
    }
  }

  /** Repeats a request whose outcome is unknown; it counts as invoked when it first was. */
  const ask = async (path: string, body: object): Promise<Answer> => {
    const invokedAt = performance.now()
    for (;;) {
      const { status, text } = await once(path, body)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const answeredAt = performance.now()
      if (status !== 0 && status !== 503) {
        return { status, body: JSON.parse(text) as Record<string, unknown>, invokedAt, answeredAt }
      }
      if (answeredAt - invokedAt > patienceMs) throw new Error(`${path} was not answered within ${patienceMs} ms`)
      await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 20))
    }
  }

  const run = async (): Promise<void> => {
    while (!stopped) {
      const key = chooseKey()
      const token = randomUUID()
      const claim = { class: 'fault.test', consumer: 'observer', key, claim_token: token, lease_ms: leaseMs }
      const { status, body, ...times } = await ask('/v1/claims', claim)
      switch (status) {
        case 201: {
          const id = String(body['id'])
          const numbers = { generation: Number(body['generation']), attempt: Number(body['attempt']) }
          history.grants.push({
            key,
            id,
            token,
            ...numbers,
            fencingToken: Number(body['fencing_token']),
            leaseMs,
            ...times,
          })
          granted.add(key)
          if (history.grants.length % abandonEvery === 0) abandoned.push(key)
          else await complete(key, id, token)
          break
        }
        case 200:
          history.duplicates.push({ key, result: JSON.stringify(body['result']), answeredAt: times.answeredAt })
          break
        case 409:
          // A spent token: its first request was granted, its answer lost, and its lease ran out since.
          if (body['outcome'] !== 'in_progress' && body['code'] !== 'token_spent') unexpected.push(JSON.stringify(body))
          break
        case 410:
          // Abandoned as often as the policy allows attempts.
          break
        default:
          unexpected.push(`${status} ${JSON.stringify(body)}`)
      }
    }
  }

  const complete = async (key: string, id: string, token: string): Promise<void> => {
    const result = { by: token, exact: '1.0' }
    const { status, body, ...times } = await ask(`/v1/claims/${id}/complete`, { claim_token: token, result })
    if (status === 200) history.completions.push({ key, token, result: JSON.stringify(result), ...times })
    else if (status !== 409 || body['code'] !== 'stale_claim') unexpected.push(`${status} ${JSON.stringify(body)}`)
  }

  const running = Promise.all(Array.from({ length: clients }, run))
  // A client that gave up fails the test at `stop`, not the process before.
  running.catch(() => undefined)
  return {
    history,
    unexpected,
    statuses,
    acknowledged: () => history.grants.length + history.completions.length,
    stop: async () => {
      stopped = true
      await running
    },
  }
}

/** How many records are read back at once. */
const readers = 16

/** Reads every record back that a history names. One that is gone is left out. */
export async function readStandings(url: string, history: History): Promise<Map<string, Standing>> {
  const standings = new Map<string, Standing>()
  const waiting = [...new Map(history.grants.map(({ key, id }) => [key, id]))]
  const readOn = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [key, id] = next
      const response = await fetch(`${url}/v1/records/${id}`, { headers: { authorization: `Bearer ${testAdminKey}` } })
      if (response.status === 404) continue
      if (response.status !== 200)
        throw new Error(`${id} could not be read: ${response.status} ${await response.text()}`)
      const body = (await response.json()) as Record<string, unknown>
      standings.set(key, {
        key,
        state: String(body['state']),
        generation: Number(body['generation']),
        attempt: Number(body['attempt']),
        result: JSON.stringify(body['result']),
      })
    }
  }
  await Promise.all(Array.from({ length: readers }, readOn))
  return standings
}
