import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client'

/** Read when metrics are asked for. */
export type Levels = {
  requestsInFlight: () => number
  waiters: () => number
  /** Items that wait for a place in a statement, by queue. */
  storeQueues: () => Readonly<Record<string, number>>
  /** True also where no Redis is set. */
  redisUsable: () => boolean
}

/** The metrics of one process, as plain data that another process can add up. */
export type MetricsReport = MetricObjectWithValues<MetricValue<string>>[]

export type Metrics = {
  /** `route` is the template, never the path. */
  observeRequest(route: string, method: string, status: number, seconds: number): void
  claimAnswered(outcome: string): void
  settled(verb: string): void
  leaseExpired(): void
  talliesLost(deliveries: number): void
  statsLost(events: number): void
  clockJumped(seconds: number): void
  /** Windows lost records, or may have. */
  windowLost(cause: string): void
  exposition(): Promise<{ contentType: string; text: string }>
  report(): Promise<MetricsReport>
}

/** From half a millisecond, a duplicate from memory, to the longest wait a claim may ask for. */
const durationBucketsSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30]

/** Counters, levels and durations in Prometheus' format, with those of the process itself. */
export function createMetrics(levels: Levels): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })

  const requests = new Histogram({
    name: 'ranbook_http_request_duration_seconds',
    help: 'Time from the request line to the end of the answer, by route template.',
    labelNames: ['route', 'method', 'status'] as const,
    buckets: durationBucketsSeconds,
    registers,
  })
  const claims = new Counter({
    name: 'ranbook_claims_total',
    help: 'Claims answered, by outcome. Outcome duplicate counts the suppressed deliveries.',
    labelNames: ['outcome'] as const,
    registers,
  })
  const settlements = new Counter({
    name: 'ranbook_settlements_total',
    help: 'Settlements and decisions written, by verb.',
    labelNames: ['verb'] as const,
    registers,
  })
  const expired = new Counter({
    name: 'ranbook_leases_expired_total',
    help: 'Leases that ran out and were noticed; each is counted once over all processes.',
    registers,
  })
  const talliesLost = new Counter({
    name: 'ranbook_duplicate_tallies_lost_total',
    help: 'Suppressed deliveries that are missing in their record’s tally.',
    registers,
  })
  const statsLost = new Counter({
    name: 'ranbook_stats_lost_total',
    help: 'Events that are missing in the counts by class and minute, or in those of mismatches.',
    registers,
  })
  const clockJump = new Gauge({
    name: 'ranbook_clock_jump_seconds',
    help: 'Last step of the database’s clock against this process’ own; 0 while there was none.',
    aggregator: 'max',
    registers,
  })
  const windowLosses = new Counter({
    name: 'ranbook_window_losses_total',
    help: 'Losses of windows that were declared, by cause; each is counted by the process that declared it.',
    labelNames: ['cause'] as const,
    registers,
  })
  new Gauge({
    name: 'ranbook_redis_usable',
    help: 'Whether window classes are kept in Redis now; 1 also where none is set. Of several processes the worst.',
    aggregator: 'min',
    registers,
    collect() {
      this.set(levels.redisUsable() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'ranbook_http_requests_in_flight',
    help: 'Requests being answered now.',
    registers,
    collect() {
      this.set(levels.requestsInFlight())
    },
  })
  new Gauge({
    name: 'ranbook_claims_waiting',
    help: 'Claims that wait for a record to change.',
    registers,
    collect() {
      this.set(levels.waiters())
    },
  })
  new Gauge({
    name: 'ranbook_store_queue_items',
    help: 'Items waiting for a place in a database statement, by queue.',
    labelNames: ['queue'] as const,
    registers,
    collect() {
      for (const [queue, items] of Object.entries(levels.storeQueues())) this.set({ queue }, items)
    },
  })

  return {
    observeRequest: (route, method, status, seconds) => requests.observe({ route, method, status }, seconds),
    claimAnswered: (outcome) => claims.inc({ outcome }),
    settled: (verb) => settlements.inc({ verb }),
    leaseExpired: () => expired.inc(),
    talliesLost: (deliveries) => talliesLost.inc(deliveries),
    statsLost: (events) => statsLost.inc(events),
    clockJumped: (seconds) => clockJump.set(seconds),
    windowLost: (cause) => windowLosses.inc({ cause }),
    exposition: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
    report: () => registry.getMetricsAsJSON(),
  }
}
