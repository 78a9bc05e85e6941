import { expect, test } from 'vitest'
import { historySeed, rerunLine, seededRandom } from '../oracle/seeded-random.ts'
import { faults } from './faulty-lookups.ts'
import { honestyHistory } from './history.ts'
import { memoryWorld } from './memory-world.ts'

const histories = 20
const lookupsEach = 1000

test('in 20 000 lookups while stores move, forget and fail no verdict is wrong, and what is known is told', async () => {
  const seed = historySeed()
  const wrong: string[] = []
  const verdicts = new Map<string, number>()
  let [neverRan, neverTold] = [0, 0]
  for (let at = 0; at < histories; at++) {
    const random = seededRandom(seed + at)
    const report = await honestyHistory({ world: await memoryWorld(), random, lookups: lookupsEach, name: `h${at}` })
    wrong.push(...report.wrong)
    for (const [verdict, count] of report.verdicts) verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + count)
    neverRan += report.neverRan
    neverTold += report.neverTold
  }
  expect(wrong.slice(0, 3), rerunLine(seed, 'test/honesty/honesty.test.ts')).toEqual([])
  // A service that always says unknown is never wrong: so much is to be said all the same.
  for (const verdict of ['ran', 'running', 'interrupted', 'never']) expect(verdicts.get(verdict)).toBeGreaterThan(200)
  expect(neverTold / neverRan).toBeGreaterThan(0.15)
})

test.each(Object.entries(faults))('the observer sees %s', async (_, { breaks, spoil }) => {
  const seen: string[] = []
  for (let at = 0; at < histories && seen.length === 0; at++) {
    const world = await memoryWorld()
    const options = { world, random: seededRandom(20_261_130 + at), lookups: lookupsEach, name: 'faulty', spoil }
    const { wrong } = await honestyHistory(options)
    seen.push(...wrong.filter((sentence) => breaks.test(sentence)))
  }
  expect(seen).not.toEqual([])
})
