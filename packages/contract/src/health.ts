import { z } from 'zod'

/** Answer to `GET /healthz`: the process runs and its event loop turns. */
export const livenessSchema = z.strictObject({ status: z.literal('ok'), version: z.string() })

/** Answer to `GET /readyz`: 200 when `ready`, else 503. A store that is not needed never makes it false. */
export const readinessSchema = z.strictObject({
  ready: z.boolean(),
  stores: z.record(z.string(), z.strictObject({ ok: z.boolean(), note: z.string().nullable() })),
})
