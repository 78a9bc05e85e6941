import type { AuditEntry, AuditLine, AuditStore } from '@ranbook/rules'
import { READ_AUDIT_ABOUT, WRITE_AUDIT } from './audit-statements.ts'
import type { ColdConnections } from './cold-connections.ts'
import type { Session } from './lane.ts'

type AuditRow = Omit<AuditLine, 'requestId'> & { request_id: string | null }

/** The audit in Postgres. */
export function createAuditStore({ reads, changes }: Pick<ColdConnections, 'reads' | 'changes'>): AuditStore {
  return {
    write: (entry) => changes.use((session) => writeAudit(session, entry)),

    async linesAbout(target, actionPrefix, limit) {
      const rows = await reads.use((session) =>
        session.unsafe<AuditRow[]>(READ_AUDIT_ABOUT, [target, actionPrefix, limit]),
      )
      return rows.map(({ request_id, ...line }) => ({ ...line, requestId: request_id }))
    },
  }
}

/** Writes one line of the audit, within the transaction of the change it tells of. */
export async function writeAudit(transaction: Pick<Session, 'unsafe'>, audit: AuditEntry): Promise<void> {
  const { actor, action, target, reason, before, after, requestId } = audit
  await transaction.unsafe(WRITE_AUDIT, [actor, action, target, reason, before, after, requestId])
}
