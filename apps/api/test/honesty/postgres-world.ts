import { randomUUID } from 'node:crypto'
import { createClassBook } from '../../src/ledger/create-class-book.ts'
import { createPairRegistry } from '../../src/ledger/create-pair-registry.ts'
import { createWindows } from '../../src/ledger/create-windows.ts'
import { prune } from '../../src/ledger/prune.ts'
import { createClassStore } from '../../src/stores/postgres/class-store.ts'
import { createRetentionStore } from '../../src/stores/postgres/retention-store.ts'
import { coldDatabase } from '../cold/cold-database.ts'
import { policyAudit } from './policy-audit.ts'
import type { HonestyProcess, HonestyWorld } from './world.ts'

/**
 * Stands before the functions of the same name in the search path, so that every statement of the product is told a time
 * that the test moves.
 */
const MOVABLE_CLOCK = `
CREATE SCHEMA movable;
CREATE TABLE movable.clock (ahead_ms float8 NOT NULL);
INSERT INTO movable.clock VALUES (0);
CREATE FUNCTION movable.now() RETURNS timestamptz STABLE LANGUAGE sql AS
  $$ SELECT pg_catalog.now() + ahead_ms * interval '1 millisecond' FROM movable.clock $$;
CREATE FUNCTION movable.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS
  $$ SELECT pg_catalog.clock_timestamp() + ahead_ms * interval '1 millisecond' FROM movable.clock $$;`

/** The product as it runs on Postgres, windows included, in two processes; its clock goes on, and is moved ahead. */
export async function postgresWorld(): Promise<HonestyWorld> {
  const { sql, open } = await coldDatabase()
  await sql.unsafe(MOVABLE_CLOCK)
  await sql.unsafe(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = movable, pg_catalog, public', current_database()); END $$`,
  )
  let aheadMs = 0
  const monotonicMs = (): number => performance.now() + aheadMs
  const failed = (error: unknown): never => {
    throw error
  }

  const start = async (): Promise<HonestyProcess> => {
    const { records, windows: cells, cold } = await open()
    const classStore = createClassStore(cold)
    const classes = await createClassBook({ store: classStore, monotonicMs })
    const windows = createWindows({ classes, store: classStore, postgres: cells, redis: null, failed })
    const ledger = {
      store: records,
      windows,
      policies: classes,
      pairs: createPairRegistry(classStore, classes),
      observer: { claimed: () => {}, answered: () => {}, settled: () => {}, expired: () => {} },
      random: () => 0.5,
      newToken: randomUUID,
    }
    return { ledger, lookups: { store: records, windows, classes, now: Date.now }, tick: classes.refresh }
  }
  const processes = [await start(), await start()]
  const { cold } = await open()
  const classStore = createClassStore(cold)
  const pruned = await createClassBook({ store: classStore, monotonicMs })

  return {
    async now() {
      const [row] = await sql<{ now: number }[]>`SELECT floor(extract(epoch FROM movable.now()) * 1000)::float8 AS now`
      return row?.now ?? 0
    },
    async pass(ms) {
      aheadMs += ms
      await sql`UPDATE movable.clock SET ahead_ms = ${aheadMs}`
    },
    processes,
    putPolicy: async (name, policy) =>
      void (await classStore.changePolicy(name, () => ({ policy, diff: {}, audit: policyAudit(name) }))),
    async prune() {
      await pruned.refresh()
      await prune({ store: createRetentionStore(cold), policies: pruned, monotonicMs, stopping: () => false })
    },
    redis: null,
  }
}
