import { Agent, request } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDataDir } from '../embedded/temporary-data-dir.ts'
import { startRanbook, testAdminKey } from '../process/start-ranbook.ts'

test.each([
  { racers: 200, keys: 50, workers: 1 },
  { racers: 64, keys: 400, workers: 1 },
  { racers: 200, keys: 20, workers: 2 },
])(
  '$racers racers on each of $keys keys, served by $workers processes: one 201 per key, the others in progress, no 5xx',
  async ({ racers, keys, workers }) => {
    const { url } = await startRanbook({ RANBOOK_DATA_DIR: await temporaryDataDir(), RANBOOK_WORKERS: String(workers) })
    // As many connections as racers, opened once: what races are claims, not handshakes.
    const agent = new Agent({ keepAlive: true, maxSockets: racers })
    onTestFinished(() => agent.destroy())
    for (let key = 0; key < keys; key++) {
      const statuses = await Promise.all(Array.from({ length: racers }, () => claim(url, agent, `race:${key}`)))
      expect(statuses.toSorted()).toEqual([201, ...Array.from({ length: racers - 1 }, () => 409)])
    }
  },
)

function claim(url: string, agent: Agent, key: string): Promise<number> {
  const headers = { authorization: `Bearer ${testAdminKey}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const call = request(`${url}/v1/claims`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
    })
    call.once('error', reject)
    call.end(JSON.stringify({ class: 'race.test', consumer: 'racer', key }))
  })
}
