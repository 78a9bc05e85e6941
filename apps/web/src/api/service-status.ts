import { queryOptions } from '@tanstack/react-query'
import { serviceUrl } from '../address/service-url.ts'

/** What the service says of itself, whether it is ready or not. */
export type ServiceStatus = {
  version: string
  ready: boolean
  stores: Record<string, { ok: boolean; note: string | null }>
}

/** Past it, a service that says nothing is as good as gone. */
const patienceMs = 5000

/** Asked every 2 s; fails only where the service can't be reached. */
export const serviceStatus = queryOptions({
  queryKey: ['service-status'],
  queryFn: async ({ signal }): Promise<ServiceStatus> => {
    const within = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)])
    const [health, readiness] = await Promise.all(
      ['healthz', 'readyz'].map(async (path) => (await fetch(`${serviceUrl}/${path}`, { signal: within })).json()),
    )
    return { version: health.version, ready: readiness.ready, stores: readiness.stores }
  },
  refetchInterval: 2000,
})
