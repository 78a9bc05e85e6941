import { expect, test } from 'vitest'
import { isJsonPointer } from '../src/json-pointer.ts'

test.each([
  '',
  '/',
  '/a',
  '/a/b',
  '/a//b',
  '/0',
  '/-',
  '/a~0b',
  '/a~1b',
  '/~01',
  '/ ',
  '/é😀',
  '/a\nb',
  '/~0~1/~1~0',
  '//',
])('%j is a JSON Pointer', (text) => {
  expect(isJsonPointer(text)).toBe(true)
})

test.each(['a', 'a/b', '#/a', '/~', '/a~', '/a~2', '/~a/b', '/a/~', ' /a', '/~~0', '\n/a'])(
  '%j is not a JSON Pointer',
  (text) => {
    expect(isJsonPointer(text)).toBe(false)
  },
)

test('the time to judge a pointer grows with its length alone', () => {
  const start = performance.now()
  expect(isJsonPointer(`${'/a'.repeat(500_000)}~`)).toBe(false)
  expect(isJsonPointer('/'.repeat(1_000_000))).toBe(true)
  expect(performance.now() - start).toBeLessThan(2000)
})
