import { type AuditStore, recordId } from '@ranbook/rules'
import type { AuditBook } from './access-book.ts'

/** More decisions about one record than anybody reads at once. */
const linesShown = 200

/** The audit over its store. */
export function createAuditBook(store: AuditStore): AuditBook {
  return {
    ofRecord: (digest) => store.linesAbout(recordId(digest), 'record.', linesShown),
  }
}
