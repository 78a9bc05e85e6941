import { StoreError } from '@ranbook/rules'
import { expect, test } from 'vitest'
import { refuseUnreachable } from '../../src/process/refuse-unreachable.ts'

function failure(code: string): StoreError {
  return new StoreError('store_unavailable', 'no answer', { cause: Object.assign(new Error('no answer'), { code }) })
}

const embedded = { embedded: true, place: '/srv/ranbook/data' }
const external = { embedded: false, place: 'db.example:5432/ranbook' }

test('a database that could not be reached yet is tried on, the embedded one and another', () => {
  for (const place of [embedded, external]) refuseUnreachable(place, failure('ECONNREFUSED'), 9000)
})

test.each([
  [embedded, 'ECONNREFUSED', "The embedded database in /srv/ranbook/data can't be reached (ECONNREFUSED)."],
  [embedded, '28000', 'The embedded database in /srv/ranbook/data refuses this user or password (28000).'],
  [
    external,
    'ECONNREFUSED',
    "DATABASE_URL: PostgreSQL at db.example:5432/ranbook can't be reached (ECONNREFUSED). Start it, correct DATABASE_URL",
  ],
  [external, '3D000', 'DATABASE_URL: PostgreSQL at db.example:5432/ranbook has no such database'],
])('what is said of %j that fails with %s is about that one', (place, code, sentence) => {
  expect(() => refuseUnreachable(place, failure(code), 11_000)).toThrow(sentence)
  if (place.embedded) {
    expect(() => refuseUnreachable(place, failure(code), 11_000)).not.toThrow('DATABASE_URL')
  }
})
