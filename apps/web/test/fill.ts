import { createRanbook, type Ranbook } from '@ranbook/sdk'
import type { Service } from '../../../packages/sdk/test/start-service.ts'

/** A client of the service that claims as `consumer`. */
export function clientOf(service: Service, consumer: string): Ranbook {
  return createRanbook({ url: service.url, apiKey: service.key, consumer })
}

/** Calls what the client has no method for, as admin; throws where it is refused. */
export async function callAsAdmin(service: Service, method: string, path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

/** Claims a key, does `work`, completes it. */
export async function run(ranbook: Ranbook, name: string, key: string, refs: string[] = []): Promise<void> {
  const claim = await ranbook.claim({ class: name, key, refs })
  if (claim.outcome !== 'claimed') throw new Error(`${key} is ${claim.outcome}`)
  await ranbook.complete(claim, { done: true })
}

/** One record in each state a record can be shown in, with keys and errors as they occur. */
export async function fillEveryState(service: Service): Promise<void> {
  await callAsAdmin(service, 'PUT', '/v1/classes/payout.sent', {
    on_lease_expiry: 'hold',
    lease_ms: 1000,
    reason: 'a second payout costs money',
  })
  const treasury = clientOf(service, 'treasury')
  await treasury.claim({ class: 'payout.sent', key: 'order:88:payout', refs: ['order:88'], owner: 'treasury-1' })
  const skipped = await treasury.claim({ class: 'payout.sent', key: 'order:71:payout', leaseMs: 60_000 })
  await decide(service, skipped.id, 'skipped', 'paid by bank transfer')

  const thumbnails = clientOf(service, 'thumbnailer')
  await thumbnails.claim({ class: 'image.resized', key: 'thumb/2026/IMG_4821.heic', leaseMs: 1000 })

  const sync = clientOf(service, 'ledger-sync')
  const dead = await sync.claim({ class: 'invoice.paid', key: 'evt_1PqWmcLkdIwHu7ix' })
  if (dead.outcome === 'claimed') {
    await sync.fail(dead, { message: 'invoice 4471 is closed' }, { retryable: false })
  }
  await run(sync, 'invoice.paid', 'evt_1PqX9dLkdIwHu7ix')

  const billing = clientOf(service, 'billing-worker')
  const ready = await billing.claim({ class: 'refund.issued', key: 'order:79:refund', refs: ['order:79'] })
  if (ready.outcome === 'claimed') await billing.release(ready)
  const failed = await billing.claim({ class: 'refund.issued', key: 'order:91:refund', refs: ['order:91'] })
  if (failed.outcome === 'claimed') {
    const error = { message: 'card_declined: the issuer did not answer', code: 'card_declined' }
    await billing.fail(failed, error, { retryAfterMs: 600_000 })
  }
  await run(billing, 'refund.issued', 'order:88:refund', ['order:88'])
  for (let delivery = 0; delivery < 3; delivery++)
    await billing.claim({ class: 'refund.issued', key: 'order:88:refund' })
  await billing.claim({ class: 'refund.issued', key: 'order:93:refund', refs: ['order:93'], owner: 'billing-7f9c/12' })
}

async function decide(service: Service, id: string, decision: string, reason: string): Promise<void> {
  await callAsAdmin(service, 'POST', `/v1/records/${id}/resolve`, { decision, reason, end_live_claim: true })
}
