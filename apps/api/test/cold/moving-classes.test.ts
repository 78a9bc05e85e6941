import { randomUUID } from 'node:crypto'
import { type PolicyInput, policySchema } from '@ranbook/contract'
import { describe, expect, test } from 'vitest'
import { claim } from '../../src/ledger/claim.ts'
import type { ClassBook } from '../../src/ledger/class-book.ts'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { createPairRegistry } from '../../src/ledger/create-pair-registry.ts'
import { createWindows } from '../../src/ledger/create-windows.ts'
import { ItemFailure } from '../../src/ledger/item-failure.ts'
import type { LedgerDeps } from '../../src/ledger/ledger-deps.ts'
import { settle } from '../../src/ledger/settle.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { claimRequest } from '../conformance/new-record.ts'
import { coldDatabase } from './cold-database.ts'

const { sql, open } = await coldDatabase()
const everywhere = { classes: ['*'], consumer: null }
const editor = { actor: 'key:root', reason: null, requestId: null }

/** A serving process: it knows of policies and places what it read at its last `refresh`. */
type Process = { ledger: LedgerDeps; classes: ClassBook & { refresh(): Promise<void> } }

async function startProcess(): Promise<Process> {
  const { records, windows: cells, cold } = await open()
  const classStore = createClassStore(cold)
  const classes = await createClassBook({ store: classStore, monotonicMs: () => performance.now() })
  const failed = (error: unknown): never => {
    throw error
  }
  const windows = createWindows({ classes, store: classStore, postgres: cells, redis: null, failed })
  const observer = { claimed: () => {}, answered: () => {}, settled: () => {}, expired: () => {} }
  const pairs = createPairRegistry(classStore, classes)
  const ledger = {
    store: records,
    windows,
    policies: classes,
    pairs,
    observer,
    random: () => 0.5,
    newToken: randomUUID,
  }
  return { ledger, classes }
}

const [young, old] = [await startProcess(), await startProcess()]

/** Stores a policy; only `young` knows it at once. */
async function put(name: string, policy: PolicyInput): Promise<void> {
  await young.classes.put(name, policySchema.parse(policy), { expectedVersion: null, acceptShort: false }, editor)
}

/** What a claim of the key is told: the outcome and the kind of record, or the code of a refusal. */
async function ask({ ledger }: Process, name: string, key: string, claimToken = randomUUID()): Promise<string> {
  const [answer] = await claim(ledger, [claimRequest({ class: name, key, claimToken })])
  if (answer instanceof ItemFailure) return (answer.reason as { code: string }).code
  return `${answer?.outcome} in ${answer?.record.window === null ? 'ledger' : 'window'}`
}

/** The end of the ten seconds in which a class moves, as if they were over. */
async function moved(name: string): Promise<void> {
  await sql`UPDATE class_era SET since = since - interval '11 seconds' WHERE class = ${name}`
  await sql`UPDATE setting SET value = to_json(value::text::bigint + 1) WHERE name = 'window_revision'`
  await Promise.all([young.classes.refresh(), old.classes.refresh()])
}

describe.each([
  ['ledger', 'window'],
  ['window', 'ledger'],
] as const)('a class that moves from %s to %s', (from, to) => {
  const name = `from-${from}.to-${to}`

  test('forgets nothing, grants nothing twice, and refuses what it can not know for ten seconds', async () => {
    await put(name, { store: from })
    await old.classes.refresh()
    const token = randomUUID()
    expect(await ask(old, name, 'running', token)).toBe(`claimed in ${from}`)
    expect(await ask(old, name, 'done', token)).toBe(`claimed in ${from}`)
    const { digest } = claimRequest({ class: name, key: 'done' })
    const command = { verb: 'complete', result: '1' } as const
    const item = { store: from, digest, claimToken: token, command }
    expect(await settle(old.ledger, everywhere, [item])).toMatchObject([{ kind: 'settled' }])

    await put(name, { store: to })
    // A process with policies of before grants in the old store yet; one with those of now only knows what is there.
    expect(await ask(old, name, 'by the old one')).toBe(`claimed in ${from}`)
    expect(await ask(young, name, 'by the old one')).toBe(`in_progress in ${from}`)
    expect(await ask(young, name, 'by the young one')).toBe('class_moving')
    expect(await ask(young, name, 'done')).toBe(`duplicate in ${from}`)

    await moved(name)
    expect(await ask(young, name, 'by the young one')).toBe(`claimed in ${to}`)
    expect(await ask(old, name, 'by the young one')).toBe(`in_progress in ${to}`)
    expect(await ask(old, name, 'running')).toBe(`in_progress in ${from}`)
    expect(await ask(young, name, 'running', token)).toBe(`claimed in ${from}`)
    expect(await ask(young, name, 'done')).toBe(`duplicate in ${from}`)
  })

  test('settles and retries what is in flight where it began', async () => {
    const token = randomUUID()
    const { digest } = claimRequest({ class: name, key: 'retried' })
    await put(name, { store: from })
    await moved(name)
    expect(await ask(old, name, 'retried', token)).toBe(`claimed in ${from}`)
    await put(name, { store: to })
    await moved(name)
    const fail = { verb: 'fail', error: '{"message":"no"}', retryable: true, retryAfterMs: 0 } as const
    expect(
      await settle(young.ledger, everywhere, [{ store: from, digest, claimToken: token, command: fail }]),
    ).toMatchObject([{ kind: 'settled', record: { state: 'failed' } }])
    const next = randomUUID()
    expect(await ask(young, name, 'retried', next)).toBe(`claimed in ${from}`)
    const complete = { verb: 'complete', result: null } as const
    expect(
      await settle(old.ledger, everywhere, [{ store: from, digest, claimToken: next, command: complete }]),
    ).toMatchObject([{ kind: 'settled', record: { state: 'completed', attempt: 2 } }])
  })
})

test('fencing numbers of a class that comes to the ledger are above those of its window', async () => {
  const numbers: number[] = []
  const grant = async (key: string): Promise<void> => {
    const [answer] = await claim(young.ledger, [claimRequest({ class: 'comes', key })])
    if (!answer || answer instanceof ItemFailure) throw new Error('it is granted')
    numbers.push(answer.record.fencingToken)
  }
  await put('comes', { store: 'window' })
  await grant('a')
  await put('comes', { store: 'ledger' })
  await moved('comes')
  await grant('b')
  await put('comes', { store: 'window' })
  await moved('comes')
  await grant('c')
  expect(numbers[1]).toBeGreaterThan(numbers[0] ?? 0)
  expect(numbers[1]).toBeLessThan(2 ** 53)
})

test('a class nobody claimed yet changes at once', async () => {
  await put('unseen', { store: 'window' })
  await put('unseen', { store: 'ledger' })
  expect(await ask(young, 'unseen', 'a')).toBe('claimed in ledger')
  expect(await sql`SELECT * FROM class_era WHERE class = 'unseen'`).toEqual([])
})

test('a first claim that races with the change is granted where the policy says that stands', async () => {
  for (let round = 0; round < 20; round++) {
    const name = `race.${round}`
    await old.classes.refresh()
    const [, answer] = await Promise.all([put(name, { store: 'window' }), ask(old, name, 'a')])
    const eras = await sql`SELECT store FROM class_era WHERE class = ${name} ORDER BY since`
    // Seen before the change: it moves, and every process knows. Else the claim was judged by the new policy.
    expect([answer, eras.length]).toEqual(eras.length === 0 ? ['claimed in window', 0] : ['claimed in ledger', 2])
  }
})

test('a more specific policy that comes or goes moves the classes it governs', async () => {
  expect(await ask(young, 'page.viewed', 'a')).toBe('claimed in ledger')
  await put('page.*', { store: 'window' })
  expect(await ask(young, 'page.viewed', 'b')).toBe('class_moving')
  await moved('page.viewed')
  expect(await ask(young, 'page.viewed', 'b')).toBe('claimed in window')
  await young.classes.remove('page.*', null, editor)
  expect(await ask(young, 'page.viewed', 'c')).toBe('class_moving')
  await moved('page.viewed')
  expect(await ask(young, 'page.viewed', 'c')).toBe('claimed in ledger')
  expect(await ask(young, 'page.viewed', 'b')).toBe('in_progress in window')
})

test('a class that changes in the very millisecond in which it was seen first has two eras all the same', async () => {
  expect(await ask(young, 'same.moment', 'a')).toBe('claimed in ledger')
  await sql`UPDATE class_seen SET first_seen_at = now() + interval '1 minute' WHERE class = 'same.moment'`
  await put('same.moment', { store: 'window' })
  expect(await sql`SELECT store FROM class_era WHERE class = 'same.moment' ORDER BY since`).toEqual([
    { store: 1 },
    { store: 2 },
  ])
})
