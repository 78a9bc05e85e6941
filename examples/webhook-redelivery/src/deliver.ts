import type { Delivery } from './github-deliveries.ts'

/** What the sender saw. */
export type DeliveryReport = { sent: number; ran: number; duplicates: number; lost: number; busy: number }

/** How many deliveries are under way at once. */
const concurrency = 24
/** A sender gives up on a delivery after so many tries: then the example fails. */
const maxTries = 200
const retryMs = 100

/**
 * Delivers every webhook three times, shuffled and concurrently, as a sender does that never heard the first answer:
 * anything but a 2xx is sent again. `onAnswer` is called after each 2xx.
 */
export async function deliverThrice(
  url: string,
  deliveries: readonly Delivery[],
  onAnswer: (answered: number) => void,
): Promise<DeliveryReport> {
  const queue = shuffle([...deliveries, ...deliveries, ...deliveries])
  const report: DeliveryReport = { sent: queue.length, ran: 0, duplicates: 0, lost: 0, busy: 0 }
  const sender = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      await deliver(url, next, report)
      onAnswer(report.ran + report.duplicates)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, sender))
  return report
}

async function deliver(url: string, delivery: Delivery, report: DeliveryReport): Promise<void> {
  for (let attempt = 0; attempt < maxTries; attempt++) {
    const outcome = await post(url, delivery)
    if (outcome === 'ran' || outcome === 'duplicate') {
      report[outcome === 'ran' ? 'ran' : 'duplicates'] += 1
      return
    }
    report[outcome] += 1
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
  throw new Error(`delivery ${delivery.id} was not taken in ${maxTries} tries`)
}

/** `lost`: no answer came. `busy`: an answer that asks to send again. */
async function post(url: string, delivery: Delivery): Promise<'ran' | 'duplicate' | 'lost' | 'busy'> {
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-delivery': delivery.id,
        'x-github-event': delivery.event,
      },
      body: delivery.body,
    })
    const answer = (await response.json()) as { outcome: string }
    if (!response.ok) return 'busy'
    return answer.outcome === 'ran' ? 'ran' : 'duplicate'
  } catch {
    // The receiver was killed under this delivery. The sender can't know how far it came: it sends again.
    return 'lost'
  }
}

function shuffle<T>(items: T[]): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1))
    ;[items[i], items[j]] = [items[j] as T, items[i] as T]
  }
  return items
}
