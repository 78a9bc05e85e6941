import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'

/** One webhook as GitHub sends it. */
export type Delivery = { id: string; event: string; body: string }

type Example = { name: string; examples: unknown[] }

/** Every payload of the package, each with a delivery id of its own, worked out from its place. */
export function githubDeliveries(): Delivery[] {
  const webhooks: Example[] = createRequire(import.meta.url)('@octokit/webhooks-examples')
  return webhooks.flatMap(({ name, examples }) =>
    examples.map((payload, index) => ({
      id: deliveryId(`${name} ${index}`),
      event: name,
      body: JSON.stringify(payload),
    })),
  )
}

function deliveryId(seed: string): string {
  const hex = createHash('sha256').update(seed).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-')
}
