import { expect, test } from 'vitest'
import { readPage } from '../../docs/test/read-page.ts'
import { run } from './run.ts'

// The commands as the example's README has them.
const [passing = '', failing = ''] = readPage('examples/webhook-redelivery/README.md')
  .blocks.filter(({ language }) => language === 'sh')
  .map(({ text }) => text)

function countsOf(printed: string): Record<string, number> {
  const lines = [...printed.matchAll(/^(deliveries|claims|duplicates|effect calls|effects) +(\d+)/gm)]
  return Object.fromEntries(lines.map(([, name, count]) => [name, Number(count)]))
}

test('329 real webhooks, each delivered three times to a receiver that is killed half way, take effect once each', async () => {
  const { code, stdout, stderr } = await run('bash', ['-euc', passing])
  expect(stderr).toBe('')
  expect(stdout).toMatch(/^killed +the receiver, by SIGKILL, [1-9]\d* deliveries half done$/m)
  expect(stdout).toMatch(/^PASSED: /m)
  const counts = countsOf(stdout)
  expect(counts).toMatchObject({ deliveries: 329, effects: 329 })
  expect(counts['claims']).toBeGreaterThan(329)
  expect(counts['effect calls']).toBeGreaterThan(329)
  expect(counts['duplicates']).toBeGreaterThan(0)
  expect(code).toBe(0)
})

test('the check of the webhook example fails when the effect is given another idempotency key at each call', async () => {
  const { code, stdout } = await run('bash', ['-euc', failing.replace(/^! /, '')])
  expect(stdout).toMatch(/^FAILED: \d+ effects of 329 deliveries$/m)
  expect(countsOf(stdout)['effects']).toBeGreaterThan(329)
  expect(code).toBe(1)
})
