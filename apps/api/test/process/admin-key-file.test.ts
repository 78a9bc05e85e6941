import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { adminKeyFile } from '../../src/process/admin-key-file.ts'
import { StartRefused } from '../../src/process/start-refused.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ranbook-key-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('the first start keeps the new key in a file that only its user can read, later ones get that key', async () => {
  const file = join(folder, 'admin-key')
  expect(await adminKeyFile(file, 'a'.repeat(40))).toEqual({ key: 'a'.repeat(40), made: true })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).toBe(`${'a'.repeat(40)}\n`)
  expect(await adminKeyFile(file, 'b'.repeat(40))).toEqual({ key: 'a'.repeat(40), made: false })
  expect(readdirSync(folder)).toEqual(['admin-key'])
})

test('of starts at once one makes the key and all get the same', async () => {
  const file = join(folder, 'admin-key')
  const starts = Array.from({ length: 20 }, (_, at) => adminKeyFile(file, `${at}-`.padEnd(40, 'k')))
  const keys = await Promise.all(starts)
  expect(new Set(keys.map(({ key }) => key)).size).toBe(1)
  expect(keys.filter(({ made }) => made)).toHaveLength(1)
})

test.each([
  ['empty', ''],
  ['short', 'short\n'],
  ['of two lines', `${'a'.repeat(40)}\n${'b'.repeat(40)}`],
])('a key file that is %s is refused and left as it is', async (_, text) => {
  const file = join(folder, 'admin-key')
  writeFileSync(file, text)
  await expect(adminKeyFile(file, 'a'.repeat(40))).rejects.toThrow(StartRefused)
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test('a key that can not be kept stops the start with a sentence', async () => {
  mkdirSync(join(folder, 'admin-key'))
  await expect(adminKeyFile(join(folder, 'admin-key'), 'a'.repeat(40))).rejects.toThrow(/can't be kept in .*admin-key/)
})
