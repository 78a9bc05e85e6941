import { queryOptions } from '@tanstack/react-query'
import type { Ranbook } from '@ranbook/sdk'
import type { RecordRow } from '@ranbook/contract'

/** The newest records, re-read every 3 s. */
export function lastRecords(ranbook: Ranbook) {
  return queryOptions({
    queryKey: ['last-records'],
    queryFn: ({ signal }) => ranbook.get<{ data: RecordRow[] }>('/v1/records?limit=25', signal),
    refetchInterval: 3000,
  })
}
