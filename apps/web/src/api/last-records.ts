import type { RecordRow } from '@ranbook/contract'
import type { Ranbook } from '@ranbook/sdk'
import { queryOptions } from '@tanstack/react-query'

/** What a screen holds. */
const count = 25

/** The newest records, read again every 2 s. */
export function lastRecords(ranbook: Ranbook) {
  return queryOptions({
    queryKey: ['last-records'],
    queryFn: ({ signal }) => ranbook.get<{ data: RecordRow[] }>(`/v1/records?limit=${count}`, signal),
    refetchInterval: 2000,
  })
}
