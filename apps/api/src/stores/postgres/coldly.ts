import type { Sql } from 'postgres'
import { storeErrorOf } from './store-error-of.ts'

/** What cold statements need of a connection or of a transaction on one. */
export type ColdSql = Pick<Sql, 'unsafe'>

/**
 * Runs cold work on its connections. Throws `StoreError` where the database can't be reached, has no room or gave the
 * statement up: what it would have written is then unknown. Any other error is a fault of ours and passes as it is.
 */
export async function coldly<T>(sql: Sql, work: (sql: Sql) => Promise<T>): Promise<T> {
  try {
    return await work(sql)
  } catch (error) {
    throw storeErrorOf(error) ?? error
  }
}
