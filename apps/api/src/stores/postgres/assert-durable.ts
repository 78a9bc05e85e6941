import type { Sql } from 'postgres'
import { PostgresRefused } from './postgres-refused.ts'

const READ_DURABILITY = `
SELECT name, setting FROM pg_settings
WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name`

/**
 * Refuses a database that may lose what it acknowledged. Only tests, whose data may be lost, go without asking.
 *
 * @throws PostgresRefused `not_durable`, which names the settings.
 */
export async function assertDurable(sql: Pick<Sql, 'unsafe'>): Promise<void> {
  const off = await sql.unsafe<{ name: string }[]>(READ_DURABILITY)
  if (off.length === 0) return
  const names = off.map(({ name }) => `${name}=off`).join(' and ')
  throw new PostgresRefused(
    `The database runs with ${names}: it can lose claims and settlements that were acknowledged. Turn it on to start.`,
    { code: 'not_durable' },
  )
}
