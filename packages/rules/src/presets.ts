import type { Preset } from '@ranbook/contract'

const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

type Given = Pick<Preset, 'name' | 'title' | 'dedup_id' | 'automatic'> & Partial<Preset>

function preset(given: Given): Preset {
  return {
    add_to_key: [],
    automatic_horizon_ms: null,
    manual_horizon_ms: null,
    suggested_retention_ms: null,
    about: false,
    note: null,
    ...given,
  }
}

/** A transport whose operator says how long it keeps messages. */
function unbounded(name: string, title: string, dedup_id: string, add_to_key: string[], note: string | null = null) {
  return preset({ name, title, dedup_id, add_to_key, automatic: 'unbounded', note })
}

/**
 * What the vendors publish about their redeliveries, as of November 2026; where `about` is set a figure is second-hand.
 */
export const presets: readonly Preset[] = [
  preset({
    ...{ name: 'stripe', title: 'Stripe webhooks', dedup_id: 'id of the event (evt_…)' },
    ...{ add_to_key: ['account', 'livemode'], automatic: 'fixed', automatic_horizon_ms: 3 * dayMs },
    ...{ manual_horizon_ms: 30 * dayMs, suggested_retention_ms: 31 * dayMs },
  }),
  preset({
    ...{ name: 'github', title: 'GitHub webhooks', dedup_id: 'X-GitHub-Delivery', add_to_key: ['hook id'] },
    ...{ automatic: 'none', manual_horizon_ms: 3 * dayMs, suggested_retention_ms: 31 * dayMs, about: true },
    note: 'A redelivery keeps its id. Older pages name 30 days for it.',
  }),
  preset({
    ...{ name: 'gitlab', title: 'GitLab webhooks', dedup_id: 'Idempotency-Key header', add_to_key: ['hook'] },
    ...{ automatic: 'unknown', suggested_retention_ms: 7 * dayMs },
  }),
  preset({
    ...{ name: 'shopify', title: 'Shopify webhooks', dedup_id: 'X-Shopify-Event-Id' },
    ...{ add_to_key: ['shop', 'topic', 'subscription'], automatic: 'fixed', automatic_horizon_ms: 4 * hourMs },
    ...{ suggested_retention_ms: 48 * hourMs, note: 'Eight tries, since September 2024.' },
  }),
  preset({
    ...{ name: 'standard-webhooks', title: 'Standard Webhooks', dedup_id: 'webhook-id', add_to_key: ['endpoint'] },
    ...{ automatic: 'fixed', automatic_horizon_ms: 75 * hourMs + 35 * minuteMs, suggested_retention_ms: 7 * dayMs },
    note: 'The horizon is that of the example schedule in the specification; the sender may choose another.',
  }),
  preset({
    ...{ name: 'svix', title: 'Svix', dedup_id: 'svix-id', add_to_key: ['endpoint'], automatic: 'fixed' },
    ...{ automatic_horizon_ms: 27 * hourMs + 35 * minuteMs, suggested_retention_ms: 7 * dayMs },
    note: 'A person can have a message sent again at any time.',
  }),
  preset({
    ...{ name: 'slack', title: 'Slack Events API', dedup_id: 'event_id', add_to_key: ['app', 'team'] },
    ...{ automatic: 'fixed', automatic_horizon_ms: 24 * hourMs, suggested_retention_ms: 48 * hourMs },
    note: 'About six minutes; up to 24 h where delayed events are switched on.',
  }),
  preset({
    ...{ name: 'twilio', title: 'Twilio webhooks', dedup_id: 'I-Twilio-Idempotency-Token', add_to_key: ['account'] },
    ...{ automatic: 'fixed', automatic_horizon_ms: 15 * secondMs, suggested_retention_ms: 24 * hourMs, about: true },
  }),
  preset({
    ...{ name: 'twilio-event-streams', title: 'Twilio Event Streams', dedup_id: 'id of the CloudEvent' },
    ...{ add_to_key: ['sink'], automatic: 'fixed', automatic_horizon_ms: 4 * hourMs },
    suggested_retention_ms: 24 * hourMs,
  }),
  preset({
    ...{ name: 'paypal', title: 'PayPal webhooks', dedup_id: 'id of the event (WH-…)', add_to_key: ['webhook id'] },
    ...{ automatic: 'fixed', automatic_horizon_ms: 3 * dayMs, suggested_retention_ms: 7 * dayMs, about: true },
    note: 'Twenty-five tries; a person can have an event sent again later.',
  }),
  preset({
    ...{ name: 'adyen', title: 'Adyen webhooks', dedup_id: 'eventCode and pspReference' },
    ...{ add_to_key: ['merchant account', 'success'], automatic: 'fixed', automatic_horizon_ms: 30 * dayMs },
    suggested_retention_ms: 45 * dayMs,
    note: 'Other fields may differ between duplicates: set the fingerprint off, or to the fields that count.',
  }),
  preset({
    ...{ name: 'sendgrid', title: 'SendGrid event webhook', dedup_id: 'sg_event_id, one per item of the batch' },
    ...{ automatic: 'fixed', automatic_horizon_ms: 29 * hourMs, suggested_retention_ms: 72 * hourMs, about: true },
    note: 'Twenty-four hours are named, 29 h were seen.',
  }),
  preset({
    ...{ name: 'sqs-standard', title: 'Amazon SQS, standard queue', dedup_id: 'an id of the producer, else MessageId' },
    ...{ add_to_key: ['queue'], automatic: 'fixed', automatic_horizon_ms: 14 * dayMs },
    ...{ suggested_retention_ms: 15 * dayMs, note: 'A redrive gives the message a new MessageId.' },
  }),
  preset({
    ...{ name: 'sqs-fifo', title: 'Amazon SQS, FIFO queue', dedup_id: 'MessageDeduplicationId, else MessageId' },
    ...{ add_to_key: ['queue'], automatic: 'fixed', automatic_horizon_ms: 28 * dayMs },
    suggested_retention_ms: 29 * dayMs,
    note: 'Fourteen days, twice that with a FIFO dead-letter queue. A redrive gives a new MessageId.',
  }),
  preset({
    ...{ name: 'eventbridge', title: 'Amazon EventBridge', dedup_id: 'id', add_to_key: ['source', 'account'] },
    ...{ automatic: 'fixed', automatic_horizon_ms: 24 * hourMs, suggested_retention_ms: 48 * hourMs },
    note: 'Up to 185 tries. An archive can be replayed later.',
  }),
  preset({
    ...{ name: 'lambda-async', title: 'AWS Lambda, asynchronous invocation', dedup_id: 'the event’s own id' },
    ...{ automatic: 'fixed', automatic_horizon_ms: 6 * hourMs, suggested_retention_ms: 24 * hourMs, about: true },
  }),
  unbounded(
    ...(['kafka', 'Apache Kafka', 'an id in the headers, else topic, partition and offset'] as const),
    ['cluster', 'topic'],
    'As long as the topic keeps messages: 7 days by default, without end where it is set so. Offsets can be reset.',
  ),
  preset({
    ...{ name: 'pubsub', title: 'Google Cloud Pub/Sub', dedup_id: 'messageId', add_to_key: ['topic'] },
    ...{ automatic: 'fixed', automatic_horizon_ms: 31 * dayMs, suggested_retention_ms: 32 * dayMs },
    note: 'Seven days by default, 31 at most; name yours as source_horizon_ms. A subscription can seek back.',
  }),
  unbounded('service-bus', 'Azure Service Bus', 'MessageId', ['entity'], 'As long as the entity’s time to live.'),
  unbounded('rabbitmq', 'RabbitMQ', 'message_id of the producer', ['virtual host', 'queue']),
  unbounded('nats', 'NATS JetStream', 'Nats-Msg-Id, else the stream’s sequence', ['stream']),
  unbounded('redis-streams', 'Redis Streams', 'an id of the producer, else the entry’s', ['key']),
  unbounded('bullmq', 'BullMQ', 'job id', ['queue']),
  unbounded('cloudevents', 'CloudEvents', 'source and id', [], 'As long as the transport that carries them.'),
]

const byName = new Map(presets.map((one) => [one.name, one]))

/** The preset of that name; null for any other. */
export function findPreset(name: string): Preset | null {
  return byName.get(name) ?? null
}
