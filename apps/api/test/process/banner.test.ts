import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AdminKeySource, banner } from '../../src/process/banner.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ranbook-banner-'))
  // A curl that tells its words one per line, NUL-separated, instead of sending them.
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'curl'), '#!/bin/sh\nprintf "%s\\0" "$@"\n')
  chmodSync(join(bin, 'curl'), 0o755)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function show(adminKey: AdminKeySource, localUrl = 'http://127.0.0.1:8080'): string {
  return banner({
    version: '1.2.3',
    publicUrl: 'https://ranbook.example.com',
    localUrl,
    database: 'embedded',
    adminKey,
  })
}

/** What a shell makes of the lines that begin with the curl. */
function pasted(text: string, env: Record<string, string> = {}): string[] {
  const script = text.slice(text.indexOf('curl '))
  const output = execFileSync('/bin/sh', ['-c', script], {
    env: { PATH: `${folder}/bin:/usr/bin:/bin`, ...env },
    encoding: 'utf8',
  })
  return output.split('\0').slice(0, -1)
}

const body = '{"class":"hello.world","consumer":"shell","key":"greeting:1","payload":{"hello":"world"}}'

test('the curl of the first start carries the key literally, also one that a shell would read otherwise', () => {
  const key = `it's"$HOME"\`id\`\\!#%&*()${'k'.repeat(20)}`
  expect(pasted(show({ kind: 'made', key, file: null }))).toEqual([
    '-sS',
    'http://127.0.0.1:8080/v1/claims',
    '-H',
    `Authorization: Bearer ${key}`,
    '-H',
    'Content-Type: application/json',
    '-d',
    body,
  ])
})

test('the curl of a later start reads the key from its file, whatever the folder is called', () => {
  const file = join(folder, `it's a "$HOME" folder`)
  writeFileSync(file, `${'s'.repeat(40)}\n`)
  const shown = show({ kind: 'file', file })
  expect(pasted(shown)[3]).toBe(`Authorization: Bearer ${'s'.repeat(40)}`)
  expect(shown).not.toContain('s'.repeat(40))
})

test.each(['environment', 'shown_before'] as const)(
  'the curl takes the key from RANBOOK_ADMIN_KEY when it is %s',
  (kind) => {
    expect(pasted(show({ kind }), { RANBOOK_ADMIN_KEY: 'from the shell' })[3]).toBe(
      'Authorization: Bearer from the shell',
    )
  },
)

test('the sign-in link has the key in its fragment, escaped, and only at the start that made it', () => {
  const shown = show({ kind: 'made', key: 'a/b?c#d%e', file: '/srv/admin-key' })
  expect(shown).toContain('https://ranbook.example.com/#key=a%2Fb%3Fc%23d%25e')
  expect(shown).toContain('it is kept in /srv/admin-key')
  for (const kind of ['environment', 'shown_before'] as const) expect(show({ kind })).not.toContain('#key=')
})
