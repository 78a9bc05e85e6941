import { serve } from '@hono/node-server'
import { createRanbook } from '@ranbook/sdk'
import { Hono } from 'hono'
import postgres from 'postgres'
import { readSettings } from './settings.ts'

// The receiver of the webhooks: a consumer like any other. It is killed and started again while it works.

const { ranbookUrl, ranbookKey, effects, receiverPort } = readSettings(process.env)
const ranbook = createRanbook({ url: ranbookUrl, apiKey: ranbookKey, consumer: 'webhook-receiver' })
const sql = postgres({ ...effects, max: 8 })

/** Some milliseconds of work, so that a kill meets it half done. */
const workMs = 20

/** The effect: one row. Like a payment API it is told an idempotency key, and does nothing for one it knows. */
async function effect(idempotencyKey: string, event: string, delivery: string): Promise<{ noted: string }> {
  await sql`insert into effect_call (delivery) values (${delivery})`
  await sql`
    insert into effect (idempotency_key, event, delivery) values (${idempotencyKey}, ${event}, ${delivery})
    on conflict (idempotency_key) do nothing`
  await new Promise((resolve) => setTimeout(resolve, workMs))
  return { noted: delivery }
}

const app = new Hono()
app.post('/github', async (c) => {
  const delivery = c.req.header('x-github-delivery') ?? ''
  const event = c.req.header('x-github-event') ?? ''
  const claim = await ranbook.claim({
    class: `github.${event}`,
    key: delivery,
    payload: await c.req.json(),
    refs: [event],
    leaseMs: 2000,
  })
  switch (claim.outcome) {
    case 'claimed': {
      const result = await effect(claim.idempotency_key, event, delivery)
      await ranbook.complete(claim, result)
      return c.json({ outcome: 'ran' })
    }
    case 'duplicate':
      return c.json({ outcome: 'duplicate' })
    case 'in_progress':
    case 'backoff':
      return c.json({ outcome: claim.outcome }, 503)
    default:
      return c.json({ outcome: claim.outcome, detail: 'needs a person' }, 500)
  }
})
app.onError((error, c) => c.json({ outcome: 'error', detail: error.message }, 503))

serve({ fetch: app.fetch, port: receiverPort, hostname: '127.0.0.1' }, () => console.log('listening'))
