import { queryOptions } from '@tanstack/react-query'
import type { LookupView } from '@ranbook/contract'
import type { Ranbook } from '@ranbook/sdk'

/** "Did this ever run?" for one question; empty asks nothing. */
export function lookup(ranbook: Ranbook, question: string) {
  return queryOptions({
    queryKey: ['lookup', question],
    queryFn: ({ signal }) => ranbook.get<LookupView>(`/v1/lookup?q=${encodeURIComponent(question)}`, signal),
    enabled: question !== '',
    staleTime: 0,
  })
}
