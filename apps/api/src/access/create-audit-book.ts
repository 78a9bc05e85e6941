import type { AuditStore } from '@ranbook/rules'
import type { AuditBook } from './access-book.ts'

/** More decisions about one record than anybody reads at once. */
const linesShown = 200

/** The audit over its store. */
export function createAuditBook(store: AuditStore): AuditBook {
  return {
    ofRecord: (id) => store.linesAbout(id, 'record.', linesShown),
    write: store.write,
  }
}
