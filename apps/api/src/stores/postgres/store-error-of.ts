import { StoreError, type StoreErrorCode } from '@ranbook/rules'
import postgres from 'postgres'

/**
 * The `StoreError` of something that a statement threw, or null where it says nothing about the database's state: then
 * it is a fault of ours and passes as it is.
 */
export function storeErrorOf(error: unknown): StoreError | null {
  if (error instanceof StoreError) return error
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null
  const sqlState = error instanceof postgres.PostgresError
  const code = sqlState ? codeOfSqlState(error.code) : isLostConnection(error.code) ? 'store_unavailable' : null
  return code === null ? null : new StoreError(code, `${sentences[code]} (${error.code})`, { cause: error })
}

type DatabaseErrorCode = Exclude<StoreErrorCode, 'window_unavailable'>

const sentences: Readonly<Record<DatabaseErrorCode, string>> = {
  store_unavailable: 'the database did not answer',
  storage_full: 'the database has no space left',
  overloaded: 'the database gave the statement up',
}

function codeOfSqlState(sqlState: string): DatabaseErrorCode | null {
  switch (sqlState) {
    case '53100': // disk_full
      return 'storage_full'
    case '53300': // too_many_connections
    case '55P03': // lock_not_available
    case '57014': // query_canceled: the statement's time limit
      return 'overloaded'
    case '25006': // read_only_sql_transaction: a standby, where nothing is decided
      return 'store_unavailable'
  }
  switch (sqlState.slice(0, 2)) {
    case '08': // connection
    case '28': // authorization, such as a password that was changed meanwhile
    case '3D': // no such database, as while a backup is put in its place
    case '40': // rolled back
    case '53': // resources
    case '57': // ended by an operator, starting, stopping
    case '58': // system
      return 'store_unavailable'
    default:
      return null
  }
}

/** Codes of postgres.js (CONNECTION_CLOSED, CONNECT_TIMEOUT, …) and of the system (ECONNREFUSED, EPIPE, …). */
function isLostConnection(code: string): boolean {
  return /^(?:CONNECT|E[A-Z]+$|ERR_(?:SOCKET|STREAM|SSL|TLS))/.test(code)
}
