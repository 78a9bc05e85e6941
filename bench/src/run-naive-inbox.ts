import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import type { PostgresPlace } from './run-pgbench.ts'

/** Connections of the naive inbox: more gave nothing on two cores. */
const connections = 16

/**
 * The inbox most teams write first: in the consumer's process, one statement per message with postgres.js, one more
 * when it is done. Returns messages per second with `inFlight` handled at once.
 */
export async function runNaiveInbox(
  work: 'insert' | 'insertAndUpdate',
  place: PostgresPlace,
  options: { inFlight: number; seconds: number },
): Promise<number> {
  const sql = postgres({
    host: place.socketFolder,
    port: place.port,
    username: place.user,
    database: place.database,
    max: connections,
  })
  const until = performance.now() + options.seconds * 1000
  let handled = 0
  const consumer = async () => {
    while (performance.now() < until) {
      const key = `order:${randomUUID()}`
      await sql`insert into bare (key, received_at) values (${key}, now()) on conflict (key) do nothing`
      if (work === 'insertAndUpdate') {
        await sql`update bare set processed_at = now(), result = '{"ok":true}' where key = ${key}`
      }
      handled += 1
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: options.inFlight }, consumer))
  const seconds = (performance.now() - started) / 1000
  await sql.end()
  return handled / seconds
}
