import { queryOptions } from '@tanstack/react-query'

/** What `/readyz` says, whether it says yes or no. */
export type ServiceStatus = {
  ready: boolean
  version: string
  stores: Record<string, { ok: boolean; note: string | null }>
}

/** Asked every 3 s; fails only where the service can't be reached at all. */
export const serviceStatus = queryOptions({
  queryKey: ['service-status'],
  queryFn: async ({ signal }): Promise<ServiceStatus> => (await fetch('/readyz', { signal })).json(),
  refetchInterval: 3000,
})
