import { type LateCompletion, type LedgerRecord, unfiltered } from '@ranbook/rules'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ledgerOn } from '../conformance/ledger-on.ts'
import type { OpenedStore } from '../conformance/store-under-test.ts'
import { applyOperation } from './apply-operation.ts'
import { openProductStore } from './open-product-store.ts'
import { pairFencing } from './pair-fencing.ts'
import { pairStores } from './paired-stores.ts'
import { createOperationSource, type HistoryClass, historyPolicies, type Operation } from './random-operations.ts'
import { historySeed, rerunLine, seededRandom } from './seeded-random.ts'

// Two seconds on two idle cores; every key lives through some thirty of them.
const operationCount = 2500

// One call after the other, so that a busy machine can draw it out; this only ends what hangs.
const timeout = 120_000

let opened: OpenedStore
beforeAll(async () => {
  opened = await openProductStore()
})
afterAll(() => opened.close())

test('Postgres answers a random history as the memory store does, and both stand alike afterwards', {
  timeout,
}, async () => {
  const seed = historySeed()
  const source = createOperationSource('oracle')
  const random = seededRandom(seed)
  const pair = pairStores(opened.store)
  const pairs = pairFencing()
  const digests = new Set<string>()

  for (let at = 0; at < operationCount; at++) {
    const operation = source.draw(random)
    const jitter = random.next()
    const where = `operation ${at} of seed ${seed}, ${JSON.stringify(operation)}; ${rerunLine(seed, 'oracle/oracle.test.ts')}`
    if (operation.do === 'wait') {
      await leaseOver(operation.digest)
      continue
    }
    const [answer, expected] = await ask(operation, jitter, where)
    expect(pairs.alike(answer, expected), where).toEqual(expected)
    if (operation.do === 'claim' && answer !== null && 'outcome' in answer) {
      source.observe(answer.record)
      digests.add(answer.record.digest)
    }
  }
  await compareStandings([...digests], `after seed ${seed}; ${rerunLine(seed, 'oracle/oracle.test.ts')}`)

  async function ask(operation: Exclude<Operation, { do: 'wait' }>, jitter: number, where: string) {
    const ledgers = [pair.asked, pair.oracle].map((store) =>
      ledgerOn(
        store,
        (name) => historyPolicies[name as HistoryClass],
        () => jitter,
      ),
    )
    const answers = []
    for (const ledger of ledgers) {
      try {
        answers.push(await applyOperation(ledger, operation))
      } catch (cause) {
        throw new Error(where, { cause })
      }
    }
    pair.finishOperation()
    return [answers[0] ?? null, answers[1] ?? null] as const
  }

  async function leaseOver(digest: string): Promise<void> {
    const [found] = await opened.store.read([{ digest, claimToken: null }])
    const end = found?.record.leaseExpiresAt ?? null
    // Leases of a minute are there to stay live.
    if (!found || end === null || end - found.now > 1000) return
    await opened.clockPasses(end)
    pair.setClock(Math.max(found.now, end + 1))
  }

  async function compareStandings(digests_: readonly string[], where: string): Promise<void> {
    const [full, expected] = [await opened.store.readFull(digests_), await pair.memory.readFull(digests_)]
    expect(pairs.alike(full.rows, expected.rows), where).toEqual(expected.rows)
    for (const digest of digests_) {
      const [history, known] = [await opened.store.readHistory(digest), await pair.memory.readHistory(digest)]
      expect(pairs.alike(history.attempts, known.attempts), where).toEqual(known.attempts)
      expect(resultsByToken(history.lateCompletions), where).toEqual(resultsByToken(known.lateCompletions))
      const [lines, told] = [
        await opened.audit.linesAbout(digest, '', 100),
        await pair.memory.linesAbout(digest, '', 100),
      ]
      expect(
        lines.map(({ id: _, at: __, ...line }) => line),
        where,
      ).toEqual(told.map(({ id: _, at: __, ...line }) => line))
    }
    for (const filter of filters) {
      const page = await opened.store.search({ ...filter, limit: 100_000 })
      pair.setClock(page.now)
      const expectedPage = await pair.memory.search({ ...filter, limit: 100_000 })
      const rows = page.rows.filter(({ record }) => digests.has(record.digest))
      expect(pairs.alike(rows, expectedPage.rows), `${JSON.stringify(filter)} ${where}`).toEqual(expectedPage.rows)
    }
  }
})

/** When a late result came is the one time that no answer tells, and two may have come in one ms. */
function resultsByToken(late: readonly LateCompletion[]): Record<string, string | null> {
  return Object.fromEntries(late.map(({ claimToken, result }) => [claimToken, result]))
}

const states: LedgerRecord['state'][] = ['claimed', 'completed', 'failed', 'dead', 'held', 'skipped', 'ready']
const filters = [
  unfiltered,
  ...states.map((state) => ({ ...unfiltered, state })),
  { ...unfiltered, class: 'history.hold', state: 'held' as const },
  { ...unfiltered, scope: [{ classes: ['history.t*', 'history.once'], consumer: 'billing-worker' }] },
  { ...unfiltered, ref: 'order:88', source: 'billing' },
  { ...unfiltered, seq: '41', keyPrefix: 'oracle:1' },
]
