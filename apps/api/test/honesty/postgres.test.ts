import { expect, test } from 'vitest'
import { historySeed, rerunLine, seededRandom } from '../oracle/seeded-random.ts'
import { faults } from './faulty-lookups.ts'
import { honestyHistory } from './history.ts'
import { postgresWorld } from './postgres-world.ts'

test('on Postgres, windows included, no verdict of a history of some weeks is wrong', async () => {
  const seed = historySeed()
  const world = await postgresWorld()
  const report = await honestyHistory({ world, random: seededRandom(seed), lookups: 250, name: 'postgres' })
  expect(report.wrong.slice(0, 3), rerunLine(seed, 'test/honesty/postgres.test.ts')).toEqual([])
  for (const verdict of ['ran', 'running', 'interrupted', 'never'] as const) {
    expect(report.verdicts.get(verdict), verdict).toBeGreaterThan(0)
  }
})

test('the observer sees there, too, where windows are not asked', async () => {
  const fault = faults['windows that are not asked at all']
  if (fault === undefined) throw new Error('it is one of the faults')
  const options = { world: await postgresWorld(), random: seededRandom(7), lookups: 200, name: 'faulty' }
  const { wrong } = await honestyHistory({ ...options, spoil: fault.spoil })
  expect(wrong.filter((sentence) => fault.breaks.test(sentence))).not.toEqual([])
})
