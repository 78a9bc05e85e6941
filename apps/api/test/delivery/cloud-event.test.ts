import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cloudEvent, type PushedRecord, replayHeaders } from '../../src/delivery/cloud-event.ts'
import { uriReference } from '../../src/delivery/uri-reference.ts'

const pushed: PushedRecord = {
  recordId: 'rec_9b2f',
  class: 'refund.issued',
  consumer: 'billing-worker',
  key: 'order:88:refund',
  source: 'billing',
  occurredAt: Date.UTC(2026, 10, 30, 10),
  payload: '{"order_id":88}',
  generation: 2,
  replayId: 'ffab6d0e-15ab-4c5b-9f44-51d6c8a3c0de',
}

test('a push is a structured CloudEvent with the fields that the protocol names', () => {
  expect(JSON.parse(cloudEvent(pushed))).toEqual({
    specversion: '1.0',
    id: 'order:88:refund',
    source: 'billing',
    type: 'refund.issued',
    time: '2026-11-30T10:00:00.000Z',
    datacontenttype: 'application/json',
    data: { order_id: 88 },
    rbkrecord: 'rec_9b2f',
    rbkconsumer: 'billing-worker',
    rbkkey: 'order:88:refund',
    rbkgeneration: 2,
    rbkreplay: 'ffab6d0e-15ab-4c5b-9f44-51d6c8a3c0de',
  })
})

test.each([
  '{"n": 9007199254740993, "e":1e400 ,"z":-0.0, "a":1.10}',
  '{"b":1,"a":2,"__proto__":3,"a":4}',
  '"\\u0000\\ud800 </script>\\u2028"',
  ' [ 1 , 2 ]\n',
  'null',
  '0.1000',
])('the payload %j stands in the event byte for byte', (payload) => {
  const body = cloudEvent({ ...pushed, payload })
  expect(body.endsWith(`,"data":${payload}}`)).toBe(true)
  expect(() => JSON.parse(body)).not.toThrow()
})

test('what is not known is left out, and the source is then Ranbook itself', () => {
  const event = JSON.parse(cloudEvent({ ...pushed, source: null, occurredAt: null, payload: null }))
  expect(event.source).toBe('ranbook')
  for (const name of ['time', 'data', 'datacontenttype']) expect(event).not.toHaveProperty(name)
})

test('a key with quotes, slashes and emoji comes through unchanged', () => {
  const key = '../"\\%?# 🧾 ü'
  expect(JSON.parse(cloudEvent({ ...pushed, key }))).toMatchObject({ id: key, rbkkey: key, data: { order_id: 88 } })
})

test.each([
  'billing',
  'billing-worker.v2~eu_1',
  '/shops/7',
  'shops/7:eu',
  './a:b',
  '//host/path',
  'https://shop.example/orders?x=1&y=/?#top',
  'https://me@shop.example:8443/a%20b',
  'http://[2001:db8::1]:80/',
  'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66',
  'mailto:cncf@example.com',
  'arn:aws:sqs:eu-1:123:queue',
  '?q',
  '#f',
])('the source %s is a URI-reference and stays as it is', (source) => {
  expect(uriReference(source)).toBe(source)
})

test.each([
  ['décor shop', 'd%C3%A9cor%20shop'],
  ['orders|eu', 'orders%7Ceu'],
  ['100%', '100%25'],
  ['a%2', 'a%252'],
  ['1st:queue', '1st%3Aqueue'],
  ['http://[::1', 'http%3A%2F%2F%5B%3A%3A1'],
  ['a#b#c', 'a%23b%23c'],
  ['kafka[0]', 'kafka%5B0%5D'],
  ['//host:port/x', '%2F%2Fhost%3Aport%2Fx'],
  ['"<>\\^`{}', '%22%3C%3E%5C%5E%60%7B%7D'],
  ['🧾', '%F0%9F%A7%BE'],
])('the source %s is no URI-reference and is written as %s', (source, written) => {
  expect(uriReference(source)).toBe(written)
  expect(decodeURIComponent(written)).toBe(source)
})

test('whatever the source, the event names a URI-reference, and writing it twice changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }), (source) => {
      const written = uriReference(source)
      expect(written).toMatch(/^[\x21-\x7e]+$/)
      expect(uriReference(written)).toBe(written)
    }),
  )
})

test('the headers of a push hold ASCII only, and the reason can be read back', () => {
  const reason = 'Refund lost in the outage – see “INC 7” 🧾\u00a0%41'
  const headers = replayHeaders({ id: pushed.replayId, reason, generation: 3 })
  expect(headers).toEqual({
    'ranbook-replay-id': pushed.replayId,
    'ranbook-replay-reason': expect.stringMatching(/^[\x21-\x7e]+$/),
    'ranbook-generation': '3',
  })
  expect(decodeURIComponent(headers['ranbook-replay-reason'] ?? '')).toBe(reason)
})
