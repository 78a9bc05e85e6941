import type { ParsedRecordId, ReadOutcome, ReadRequest, RecordStore } from '@ranbook/rules'
import type { Windows } from './windows.ts'

/**
 * Reads records where their ids say they stand. A window's record is asked for in every place of windows; one that can't
 * be asked is no answer. Throws `StoreError`.
 */
export async function readById(
  { store, windows }: { store: Pick<RecordStore, 'read'>; windows: Windows },
  named: ParsedRecordId['store'],
  requests: readonly ReadRequest[],
): Promise<(ReadOutcome | null)[]> {
  if (named === 'ledger') return store.read(requests)
  const found: (ReadOutcome | null)[] = new Array(requests.length).fill(null)
  let open = requests.map((request, at) => ({ request, at }))
  for (const place of windows.placesAsked()) {
    if (open.length === 0) break
    const read = await windows.storeAt(place).read(open.map(({ request }) => request))
    for (const [index, { at }] of open.entries()) found[at] = read[index] ?? null
    open = open.filter(({ at }) => found[at] === null)
  }
  return found
}
