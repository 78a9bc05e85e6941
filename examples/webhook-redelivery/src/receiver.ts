import { randomUUID } from 'node:crypto'
import { serve } from '@hono/node-server'
import { createRanbook } from '@ranbook/sdk'
import { Hono } from 'hono'
import postgres from 'postgres'
import { readSettings } from './settings.ts'

// The receiver of the webhooks: a consumer like any other. It is killed and started again while it works.

const settings = readSettings(process.env)
const ranbook = createRanbook({
  url: settings.ranbookUrl,
  apiKey: settings.ranbookKey,
  consumer: 'webhook-receiver',
})
const sql = postgres({ ...settings.effects, max: 8 })

/** How long a killed delivery is left alone before another may run it. Short, so that the example is. */
const leaseMs = 2000
/** Work that follows the row, long enough that a kill meets many deliveries between their row and their complete. */
const workMs = 50

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
    leaseMs,
  })
  switch (claim.outcome) {
    case 'claimed': {
      const key = settings.freshKeys ? randomUUID() : claim.idempotency_key
      let result: { noted: string }
      try {
        result = await effect(key, event, delivery)
      } catch (error) {
        await ranbook.fail(claim, { message: String(error) }, { retryAfterMs: 0 })
        throw error
      }
      // What is thrown here says nothing about the effect, which ran: no 2xx, and the sender comes again.
      await ranbook.complete(claim, result)
      return c.json({ outcome: 'ran' })
    }
    case 'duplicate':
    case 'superseded':
      return c.json({ outcome: 'duplicate' })
    case 'in_progress':
    case 'backoff':
    case 'waiting':
      // No 2xx: the sender comes again.
      return c.json({ outcome: claim.outcome }, 503)
    case 'held':
    case 'dead':
    case 'mismatch':
      return c.json({ outcome: claim.outcome, detail: 'A person has to look at it.' }, 500)
  }
})
app.onError((error, c) => {
  console.error(error)
  return c.json({ outcome: 'error' }, 503)
})

serve({ fetch: app.fetch, port: settings.receiverPort, hostname: '127.0.0.1' }, () => console.log('listening'))
