import { uriReference } from './uri-reference.ts'

/** What a push says of the generation it asks for. */
export type PushedRecord = {
  recordId: string
  class: string
  consumer: string
  key: string
  /** Null: none is known. */
  source: string | null
  /** Ms since 1970. */
  occurredAt: number | null
  /** JSON text as it came in; null when there is none. */
  payload: string | null
  generation: number
  replayId: string
}

/** The media type of a structured CloudEvent in JSON. */
export const cloudEventType = 'application/cloudevents+json'

/**
 * The body of a push: a structured CloudEvent 1.0 whose `data` is the payload byte for byte. `rbkgeneration` is an
 * Integer of CloudEvents, 32 bits, which is what the ledger keeps it in; the other extensions are Strings. A source that
 * is no URI-reference is written as one, see `uriReference`. What is not known is left out.
 */
export function cloudEvent(record: PushedRecord): string {
  const envelope = JSON.stringify({
    specversion: '1.0',
    id: record.key,
    source: uriReference(record.source ?? 'ranbook'),
    type: record.class,
    time: record.occurredAt === null ? undefined : new Date(record.occurredAt).toISOString(),
    datacontenttype: record.payload === null ? undefined : 'application/json',
    rbkrecord: record.recordId,
    rbkconsumer: record.consumer,
    rbkkey: record.key,
    rbkgeneration: record.generation,
    rbkreplay: record.replayId,
  })
  return record.payload === null ? envelope : `${envelope.slice(0, -1)},"data":${record.payload}}`
}

/**
 * What a push says in headers as well, for receivers that look at no body: the replay, its reason percent-encoded (a
 * header holds ASCII only) and the generation.
 */
export function replayHeaders(replay: { id: string; reason: string; generation: number }): Record<string, string> {
  return {
    'ranbook-replay-id': replay.id,
    'ranbook-replay-reason': encodeURIComponent(replay.reason),
    'ranbook-generation': String(replay.generation),
  }
}
