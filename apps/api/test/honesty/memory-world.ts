import { randomUUID } from 'node:crypto'
import type { ClassStore, LedgerRecord } from '@ranbook/rules'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { createPairRegistry } from '../../src/ledger/create-pair-registry.ts'
import { createWindows } from '../../src/ledger/create-windows.ts'
import { createForgettingStore, createMemoryWindow } from './forgetting-store.ts'
import { createMemoryClasses } from './memory-classes.ts'
import { createMemoryRedis } from './memory-redis.ts'
import { policyAudit } from './policy-audit.ts'
import type { HonestyProcess, HonestyWorld } from './world.ts'

/** The product's verbs, windows and class books in two processes, over stores in memory that share one clock. */
export async function memoryWorld(): Promise<HonestyWorld> {
  const clock = { ms: Date.UTC(2026, 10, 1) }
  const now = () => clock.ms
  const store = createForgettingStore({ now })
  const postgres = createMemoryWindow({ now })
  const classStore = createMemoryClasses({ now })
  const redis = createMemoryRedis({ now }, classStore.declareLoss)

  const start = async (): Promise<HonestyProcess> => {
    const classes = await createClassBook({ store: classStore as unknown as ClassStore, monotonicMs: now })
    const windows = createWindows({
      classes,
      store: classStore,
      postgres,
      redis,
      failed: (error) => {
        throw error
      },
    })
    const ledger = {
      store,
      windows,
      policies: classes,
      pairs: createPairRegistry(classStore, classes),
      observer: { claimed: () => {}, answered: () => {}, settled: () => {}, expired: () => {} },
      random: () => 0.5,
      newToken: randomUUID,
    }
    return {
      ledger,
      lookups: { store, windows, classes, now },
      async tick() {
        await redis.confirmed()
        await classes.refresh()
        await windows.keepOutages()
      },
    }
  }

  const retentionOf = (record: LedgerRecord) => classStore.policyFor(record.class)
  const isOver = ({ state, endedAt }: LedgerRecord, retentionMs: number | null | undefined): boolean =>
    ['completed', 'dead', 'skipped'].includes(state) &&
    endedAt !== null &&
    retentionMs != null &&
    endedAt < now() - retentionMs

  return {
    now: async () => now(),
    async pass(ms) {
      clock.ms += ms
    },
    processes: [await start(), await start()],
    async putPolicy(name, policy) {
      // A transaction takes longer than that: no grant lies in the millisecond of a change.
      clock.ms += 1
      await classStore.changePolicy(name, () => ({ policy, diff: {}, audit: policyAudit(name) }))
    },
    async prune() {
      const gone = await store.forget((record) => isOver(record, retentionOf(record)?.key_retention_ms))
      for (const { class: name, endedAt } of gone) classStore.keysForgotten(name, endedAt ?? 0)
      for (const record of await store.standing()) {
        if (record.detailsErasedAt !== null || !isOver(record, retentionOf(record)?.details_retention_ms)) continue
        const erased = { ...record, version: record.version + 1, result: null, detailsErasedAt: now() }
        const written = { expectVersion: record.version, record: erased, grants: false, archive: null, fill: null }
        await store.compareAndSet([{ ...written, audit: null }])
      }
    },
    redis,
  }
}
