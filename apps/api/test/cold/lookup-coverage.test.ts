import { type LookupView, lookupResponseSchema } from '@ranbook/contract'
import { beforeAll, describe, expect, test } from 'vitest'
import { coldApp } from './cold-app.ts'

const dayMs = 86_400_000
const startedAt = Date.now()
const daysAgo = (days: number): string => new Date(startedAt - days * dayMs).toISOString()

const app = await coldApp(
  (sql) => sql`UPDATE setting SET value = to_json(${daysAgo(30)}::text) WHERE name = 'ledger_began_at'`,
)
const { request, claim, mint } = app

async function ask(q: string, more: Record<string, string> = {}, key?: string): Promise<LookupView> {
  const query = new URLSearchParams({ q, ...more })
  const answer = await request('GET', `/v1/lookup?${query}`, key === undefined ? {} : { key })
  expect(answer.status).toBe(200)
  return lookupResponseSchema.parse(answer.json)
}

test('on a ledger where nothing was claimed it never ran, yet nothing is known about any time', async () => {
  expect(await ask('anything')).toMatchObject({ verdict: 'never', records: [], coverage: [] })
  expect(await ask('anything', { at: daysAgo(1) })).toMatchObject({ verdict: 'unknown' })
})

describe('with two classes, claimed since 20 and since 10 days, on a ledger of 30 days', () => {
  beforeAll(async () => {
    await claim({ class: 'old.class', consumer: 'one', key: 'k1' })
    await claim({ class: 'old.class', consumer: 'two', key: 'k1' })
    await claim({ class: 'new.class', consumer: 'one', key: 'k2' })
    await app.sql`UPDATE class_seen SET first_seen_at = ${daysAgo(20)} WHERE class = 'old.class' AND consumer = 'one'`
    await app.sql`UPDATE class_seen SET first_seen_at = ${daysAgo(15)} WHERE class = 'old.class' AND consumer = 'two'`
    await app.sql`UPDATE class_seen SET first_seen_at = ${daysAgo(10)} WHERE class = 'new.class'`
  })

  test('without a time the question is since the ledger began, and never', async () => {
    const answer = await ask('nothing')
    expect(answer.verdict).toBe('never')
    expect(answer.sentence).toContain(`2 classes are complete since ${daysAgo(30).slice(0, 19).replace('T', ' ')} UTC`)
    expect(answer.coverage).toEqual([
      { class: 'new.class', store: 'ledger', complete_since: daysAgo(30), note: null },
      { class: 'old.class', store: 'ledger', complete_since: daysAgo(30), note: null },
    ])
  })

  const cases: { days: number; more?: Record<string, string>; verdict: string; why: string }[] = [
    { days: 5, verdict: 'never', why: 'both classes reach it' },
    { days: 12, verdict: 'unknown', why: 'one class is newer' },
    { days: 12, more: { class: 'old.class' }, verdict: 'never', why: 'the class asked reaches it' },
    { days: 17, more: { class: 'old.class' }, verdict: 'never', why: 'one of its consumers reaches it' },
    { days: 17, more: { class: 'old.class', consumer: 'two' }, verdict: 'unknown', why: 'the consumer asked is newer' },
    { days: 12, more: { class: 'new.class' }, verdict: 'unknown', why: 'the class asked is newer' },
    { days: 25, verdict: 'unknown', why: 'both classes are newer' },
    { days: 31, verdict: 'unknown', why: 'the ledger is newer' },
    { days: 5, more: { class: 'unseen' }, verdict: 'unknown', why: 'the class was never claimed' },
    { days: 5, more: { consumer: 'onee' }, verdict: 'unknown', why: 'the consumer never claimed' },
    { days: -1, verdict: 'unknown', why: 'the time is still to come' },
  ]
  test.each(cases)('about $days days ago, $more: $verdict, as $why', async ({ days, more, verdict }) => {
    expect((await ask('nothing', { ...more, at: daysAgo(days) })).verdict).toBe(verdict)
  })

  test('unknown counts what is complete, names what is not and says why', async () => {
    const answer = await ask('nothing', { at: daysAgo(12) })
    expect(answer.sentence).toContain('1 class was complete, but new.class had not been claimed here')
    expect(answer.coverage.map(({ class: name, note }) => ({ name, note }))).toEqual([
      { name: 'new.class', note: `First claimed here at ${daysAgo(10)}, after the time asked.` },
      { name: 'old.class', note: null },
    ])
  })

  test.each([
    { more: { class: 'old.clas' }, limits: 'the class old.clas', why: 'the class old.clas was never claimed here' },
    { more: { consumer: 'onee' }, limits: 'the consumer onee', why: 'the consumer onee has never claimed here' },
    {
      more: { class: 'new.class', consumer: 'two' },
      limits: 'the consumer two and the class new.class',
      why: 'the consumer two has never claimed the class new.class here',
    },
  ])('what never claimed, a slip of the pen maybe, is unknown and named, never never: $limits', async (asked) => {
    const { more, limits, why } = asked
    const { verdict, records, sentence, coverage } = await ask('k2', more)
    expect({ verdict, records }).toEqual({ verdict: 'unknown', records: [] })
    expect(sentence).toContain(
      `For ${limits}: no record has the key, id or reference "k2", yet whether it ran is unknown: `,
    )
    expect(sentence).toContain(why)
    expect(coverage.filter(({ note }) => note !== 'Not claimed here yet.')).toEqual([])
  })

  test('a sentence names the class and the consumer that it was limited to, whatever it says', async () => {
    const limits = 'For the consumer one and the class old.class: '
    expect((await ask('nothing', { class: 'old.class', consumer: 'one' })).sentence).toContain(
      `${limits}no record has the key, id or reference "nothing": it never ran here`,
    )
    expect((await ask('k1', { class: 'old.class', consumer: 'one' })).sentence).toContain(
      `${limits}old.class "k1" is running`,
    )
  })

  test('a key that reaches nothing that ever claimed is told unknown', async () => {
    const key = await mint({ actions: ['claim'], consumer: 'onee' })
    const { verdict, sentence } = await ask('k1', {}, key)
    expect(verdict).toBe('unknown')
    expect(sentence).toContain('nothing that this key may read was ever claimed here')
  })

  test('a record found outweighs what is unknown elsewhere', async () => {
    expect((await ask('k1', { at: daysAgo(25) })).verdict).toBe('running')
  })

  test('a key of one consumer is told of its own records and coverage only, and the sentence says so', async () => {
    const key = await mint({ actions: ['claim'], classes: ['old.*'], consumer: 'two' })
    const found = await ask('k1', {}, key)
    expect(found.records).toMatchObject([{ consumer: 'two', class: 'old.class' }])
    const { verdict, sentence, coverage } = await ask('k2', {}, key)
    expect(verdict).toBe('never')
    expect(sentence).toContain('Within the class old.* for the consumer two: no record')
    expect(coverage.map(({ class: name }) => name)).toEqual(['old.class'])
    expect((await ask('nothing', { at: daysAgo(17) }, key)).verdict).toBe('unknown')
  })

  test('what lies outside the scope of the key is unknown, whether or not it exists', async () => {
    const key = await mint({ actions: ['read'], classes: ['old.*'], consumer: 'two' })
    const outside: Record<string, string>[] = [
      { class: 'new.class' },
      { class: 'unseen' },
      { consumer: 'one' },
      { consumer: 'nobody' },
    ]
    for (const more of outside) {
      const { verdict, records, coverage, sentence } = await ask('k1', more, key)
      expect({ verdict, records, coverage }).toEqual({ verdict: 'unknown', records: [], coverage: [] })
      expect(sentence).toContain('lies outside what this key may read')
    }
  })

  test('an id of a foreign record answers as one that no record has', async () => {
    const foreign = await claim({ class: 'new.class', consumer: 'one', key: 'k3' })
    const key = await mint({ actions: ['read'], classes: ['old.*'] })
    const blur = (view: LookupView) => ({
      ...view,
      checked_at: '',
      sentence: view.sentence.replace(/"rec_[^"]*"|as of [^)]*/g, ''),
    })
    const absent = 'rec_00000000000000000000000000000000'
    expect(blur(await ask(foreign.id, {}, key))).toEqual(blur(await ask(absent, {}, key)))
    expect((await ask(foreign.id)).records).toHaveLength(1)
  })
})

test('a question that more than 2 000 pairs would have to be tried for names a class or a consumer, or an id', async () => {
  const { id } = await claim({ class: 'old.class', consumer: 'one', key: 'k4' })
  await app.sql`INSERT INTO class_seen (class, consumer, first_seen_at)
    SELECT 'many.' || n, 'one', now() FROM generate_series(1, 1998) n`
  expect((await request('GET', '/v1/lookup?q=k4')).json.code).toBe('scope_too_wide')
  expect((await ask('k4', { class: 'old.class' })).records).toHaveLength(1)
  expect((await ask('k4', { consumer: 'two' })).verdict).toBe('never')
  const byId = await ask(id, { at: daysAgo(12) })
  expect(byId.records).toMatchObject([{ id, matched: 'id' }])
  expect(byId.coverage).toMatchObject([{ class: 'old.class', note: null }])
  await app.sql`DELETE FROM class_seen WHERE class = 'many.1'`
  expect((await ask('k4')).records).toMatchObject([{ id, matched: 'key' }])
})
