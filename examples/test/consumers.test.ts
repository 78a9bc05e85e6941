import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../../packages/sdk/test/start-service.ts'
import { run } from './run.ts'

let service: Service
beforeAll(async () => {
  service = await startService()
})
afterAll(() => service?.remove())

const environment = () => ({ RANBOOK_URL: service.url, RANBOOK_KEY: service.key })

async function verdictOf(question: string): Promise<unknown> {
  const response = await fetch(`${service.url}/v1/lookup?q=${encodeURIComponent(question)}`, {
    headers: { authorization: `Bearer ${service.key}` },
  })
  return response.json()
}

test('the consumer in shell runs an event once, by the status code alone, also when it is started again', async () => {
  const first = await run('sh', ['examples/curl.sh', 'evt-shell'], environment())
  expect(first).toEqual({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(
      /^first delivery of evt-shell\nclaimed: .*rbk-\S+\ncompleted\nsecond delivery of evt-shell\nduplicate: already done, nothing to do\n$/,
    ),
  })
  const again = await run('sh', ['examples/curl.sh', 'evt-shell'], environment())
  expect(again.code).toBe(0)
  expect(again.stdout.match(/^duplicate:/gm)).toHaveLength(2)
  expect(await verdictOf('evt-shell')).toMatchObject({ verdict: 'ran', records: [{ attempt: 1 }] })
})

test('the consumer in shell does not run what it is refused', async () => {
  const refused = await run('sh', ['examples/curl.sh', 'evt-other'], {
    ...environment(),
    RANBOOK_KEY: 'rbk_no_such_key',
  })
  expect(refused.code).toBe(1)
  expect(refused.stdout).toMatch(/not run \(401\):\n\{.*"code":"unauthenticated"/)
  expect(await verdictOf('evt-other')).toMatchObject({ verdict: 'never' })
})

test('the consumer in Python runs an event once, and a duplicate gets the result with every digit', async () => {
  const result = 'result {"invoice": "inv-evt-python", "cents": 12345678901234567890}'
  expect(await run('python3', ['examples/python/consumer.py', 'evt-python'], environment())).toEqual({
    code: 0,
    stderr: '',
    stdout: `first delivery: ran, ${result}\nsecond delivery: duplicate, ${result}\neffects: 1\n`,
  })
  // Its own check counts the effects of this run, of which there is none.
  const again = await run('python3', ['examples/python/consumer.py', 'evt-python'], environment())
  expect(again).toMatchObject({ code: 1, stdout: expect.stringContaining('effects: 0') })
})

test('the consumer in Python waits for a service that is being restarted', async () => {
  await service.stop()
  const running = run('python3', ['examples/python/consumer.py', 'evt-restart'], environment())
  await service.start()
  expect(await running).toMatchObject({ code: 0, stdout: expect.stringContaining('effects: 1') })
})
