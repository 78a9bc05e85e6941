import type { LookupView } from '@ranbook/contract'
import type { Ranbook } from '@ranbook/sdk'
import { queryOptions } from '@tanstack/react-query'

/** "Did this ever run?" for one question; empty asks nothing. Asked again now and then. */
export function lookup(ranbook: Ranbook, question: string) {
  return queryOptions({
    queryKey: ['lookup', question],
    queryFn: ({ signal }) => ranbook.get<LookupView>(`/v1/lookup?q=${encodeURIComponent(question)}`, signal),
    enabled: question !== '',
    // Often enough to see a run end; each question costs the service a probe per class. Soon again where it failed.
    refetchInterval: ({ state }) => (state.status === 'error' ? 3000 : 10_000),
  })
}
