import type { AuditEntry, AuditLine, AuditStore } from '@ranbook/rules'
import type { Sql } from 'postgres'
import { READ_AUDIT_ABOUT, WRITE_AUDIT } from './audit-statements.ts'
import { type ColdSql, coldly } from './coldly.ts'

type AuditRow = Omit<AuditLine, 'requestId'> & { request_id: string | null }

/** The audit in Postgres, on the cold connections given. */
export function createAuditStore(sql: Sql): AuditStore {
  return {
    async linesAbout(target, actionPrefix, limit) {
      const rows = await coldly(sql, (cold) => cold.unsafe<AuditRow[]>(READ_AUDIT_ABOUT, [target, actionPrefix, limit]))
      return rows.map(({ request_id, ...line }) => ({ ...line, requestId: request_id }))
    },
  }
}

/** Writes one line of the audit, within the transaction of the change it tells of. */
export async function writeAudit(transaction: ColdSql, audit: AuditEntry): Promise<void> {
  const { actor, action, target, reason, before, after, requestId } = audit
  await transaction.unsafe(WRITE_AUDIT, [actor, action, target, reason, before, after, requestId])
}
