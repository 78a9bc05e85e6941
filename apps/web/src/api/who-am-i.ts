import type { Me } from '@ranbook/contract'
import type { Ranbook } from '@ranbook/sdk'
import { queryOptions } from '@tanstack/react-query'

/** Whose key this is and what it may do. A key never changes, so it is asked once; after a failure again every 3 s. */
export function whoAmI(ranbook: Ranbook | null) {
  return queryOptions({
    queryKey: ['who-am-i'],
    queryFn: ({ signal }) => (ranbook === null ? null : ranbook.get<Me>('/v1/me', signal)),
    enabled: ranbook !== null,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => (state.status === 'error' ? 3000 : false),
  })
}
