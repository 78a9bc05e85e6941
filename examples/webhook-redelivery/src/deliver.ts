import type { Delivery } from './github-deliveries.ts'

/** What the sender saw: requests that were answered with a 2xx, that had no answer, that were asked to come again. */
export type DeliveryReport = { ran: number; duplicates: number; lost: number; busy: number }

/** How many deliveries are under way at once. */
const concurrency = 24
/** A sender that is refused for so long has a broken receiver: then the example fails. */
const maxTries = 300
const retryMs = 100

/**
 * Delivers every webhook three times, shuffled and concurrently, as a sender does that never heard the first answer.
 * Anything but a 2xx is sent again. `onAnswer` is told after each 2xx how many there were.
 */
export async function deliverThrice(
  url: string,
  deliveries: readonly Delivery[],
  onAnswer: (answered: number) => void,
): Promise<DeliveryReport> {
  const queue = shuffle([...deliveries, ...deliveries, ...deliveries])
  const report: DeliveryReport = { ran: 0, duplicates: 0, lost: 0, busy: 0 }
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
    const seen = await post(url, delivery)
    report[seen] += 1
    if (seen === 'ran' || seen === 'duplicates') return
    await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
  throw new Error(`delivery ${delivery.id} was not taken in ${maxTries} tries`)
}

async function post(url: string, delivery: Delivery): Promise<keyof DeliveryReport> {
  const headers = {
    'content-type': 'application/json',
    'x-github-delivery': delivery.id,
    'x-github-event': delivery.event,
  }
  try {
    const response = await fetch(url, { method: 'POST', headers, body: delivery.body })
    const { outcome } = (await response.json()) as { outcome: string }
    if (!response.ok) return 'busy'
    return outcome === 'ran' ? 'ran' : 'duplicates'
  } catch {
    // The receiver was killed under this delivery. How far it came the sender can't know.
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
