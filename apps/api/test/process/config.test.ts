import { expect, test } from 'vitest'
import { type Config, readConfig } from '../../src/config.ts'

function ready(environment: Record<string, string>): { config: Config; warnings: string[] } {
  const outcome = readConfig(environment)
  if (outcome.kind === 'refused') throw new Error(outcome.faults.join(' '))
  return outcome
}

function faults(environment: Record<string, string>): string[] {
  const outcome = readConfig(environment)
  return outcome.kind === 'refused' ? outcome.faults : []
}

test('an empty environment starts with the documented defaults', () => {
  expect(ready({})).toEqual({
    kind: 'ready',
    warnings: [],
    config: {
      port: 8080,
      host: '127.0.0.1',
      databaseUrl: null,
      redisUrl: null,
      dataDir: './.ranbook',
      dataDirGiven: false,
      adminKey: null,
      publicUrl: null,
      workers: 1,
      sweepIntervalMs: 1000,
      pruneIntervalMs: 60_000,
      targetAllowlist: null,
      logLevel: 'info',
      exitWithStdin: false,
    },
  })
})

test('every variable is taken when it is valid', () => {
  const { config, warnings } = ready({
    PORT: '0',
    HOST: '::1',
    DATABASE_URL: 'postgresql://me:p%40ss,@db-1:5432/ranbook?sslmode=require',
    REDIS_URL: 'redis://me:p%40ss@cache-1:6379/1',
    RANBOOK_DATA_DIR: '/srv/ran book',
    RANBOOK_ADMIN_KEY: 'k'.repeat(32),
    RANBOOK_PUBLIC_URL: 'https://ranbook.example.com/',
    RANBOOK_WORKERS: '4',
    RANBOOK_SWEEP_INTERVAL_MS: '100',
    RANBOOK_PRUNE_INTERVAL_MS: '86400000',
    RANBOOK_TARGET_ALLOWLIST: 'Hooks.example.com, *.internal.example,10.0.0.0/8',
    LOG_LEVEL: 'silent',
    RANBOOK_EXIT_WITH_STDIN: '1',
    PATH: '/usr/bin',
  })
  expect(warnings).toEqual([])
  expect(config).toEqual({
    port: 0,
    host: '::1',
    databaseUrl: 'postgresql://me:p%40ss,@db-1:5432/ranbook?sslmode=require',
    redisUrl: 'redis://me:p%40ss@cache-1:6379/1',
    dataDir: '/srv/ran book',
    dataDirGiven: true,
    adminKey: 'k'.repeat(32),
    publicUrl: 'https://ranbook.example.com',
    workers: 4,
    sweepIntervalMs: 100,
    pruneIntervalMs: 86_400_000,
    targetAllowlist: {
      names: ['hooks.example.com'],
      suffixes: ['.internal.example'],
      ranges: [{ address: '10.0.0.0', prefixBits: 8 }],
    },
    logLevel: 'silent',
    exitWithStdin: true,
  })
})

test('an empty value counts as unset', () => {
  expect(ready({ PORT: '', DATABASE_URL: '', RANBOOK_ADMIN_KEY: '', REDIS_URL: '' })).toEqual(ready({}))
})

test.each([
  ['PORT', '-1'],
  ['PORT', '65536'],
  ['PORT', '80.5'],
  ['PORT', ' 80'],
  ['PORT', 'http'],
  ['PORT', '1e3'],
  ['PORT', '99999999999999999999'],
  ['HOST', 'http://localhost'],
  ['HOST', 'a b'],
  ['DATABASE_URL', 'mysql://host/db'],
  ['DATABASE_URL', 'host/db'],
  ['DATABASE_URL', 'postgres://'],
  ['DATABASE_URL', 'postgres://user:100%@host/db'],
  ['DATABASE_URL', 'postgres://user:password@one:5432,two:5432/db'],
  ['DATABASE_URL', 'postgres://one%2Ctwo/db'],
  ['REDIS_URL', 'host:6379'],
  ['REDIS_URL', 'http://host:6379'],
  ['REDIS_URL', 'redis://'],
  ['REDIS_URL', 'redis://host:70000'],
  ['REDIS_URL', 'redis+sentinel://one,two'],
  ['REDIS_URL', 'redis://one,two/1'],
  ['RANBOOK_DATA_DIR', '/srv/\0'],
  ['RANBOOK_ADMIN_KEY', 'k'.repeat(31)],
  ['RANBOOK_ADMIN_KEY', `${'k'.repeat(32)} k`],
  ['RANBOOK_ADMIN_KEY', 'ä'.repeat(32)],
  ['RANBOOK_PUBLIC_URL', 'ranbook.example.com'],
  ['RANBOOK_PUBLIC_URL', 'ftp://ranbook.example.com'],
  ['RANBOOK_PUBLIC_URL', 'https://ranbook.example.com/ledger'],
  ['RANBOOK_PUBLIC_URL', 'https://ranbook.example.com/?a=b'],
  ['RANBOOK_PUBLIC_URL', 'https://ranbook.example.com/#'],
  ['RANBOOK_PUBLIC_URL', 'https://me:secret@ranbook.example.com'],
  ['RANBOOK_WORKERS', '0'],
  ['RANBOOK_WORKERS', '65'],
  ['RANBOOK_SWEEP_INTERVAL_MS', '99'],
  ['RANBOOK_SWEEP_INTERVAL_MS', '60001'],
  ['RANBOOK_PRUNE_INTERVAL_MS', '99'],
  ['RANBOOK_PRUNE_INTERVAL_MS', '86400001'],
  ['RANBOOK_TARGET_ALLOWLIST', ' '],
  ['RANBOOK_TARGET_ALLOWLIST', 'a.example,'],
  ['RANBOOK_TARGET_ALLOWLIST', 'a.example b.example'],
  ['RANBOOK_TARGET_ALLOWLIST', 'https://a.example'],
  ['RANBOOK_TARGET_ALLOWLIST', 'a.example/ranbook'],
  ['RANBOOK_TARGET_ALLOWLIST', 'a.example:443'],
  ['RANBOOK_TARGET_ALLOWLIST', 'me@a.example'],
  ['RANBOOK_TARGET_ALLOWLIST', '*'],
  ['RANBOOK_TARGET_ALLOWLIST', '*.'],
  ['RANBOOK_TARGET_ALLOWLIST', 'a.*.example'],
  ['RANBOOK_TARGET_ALLOWLIST', '.example'],
  ['RANBOOK_TARGET_ALLOWLIST', '10.0.0.0/33'],
  ['RANBOOK_TARGET_ALLOWLIST', '10.0.0.0/-1'],
  ['RANBOOK_TARGET_ALLOWLIST', '10.0.0/8'],
  ['RANBOOK_TARGET_ALLOWLIST', '10.0.0'],
  ['RANBOOK_TARGET_ALLOWLIST', '010.0.0.1'],
  ['RANBOOK_TARGET_ALLOWLIST', '0x7f.1'],
  ['RANBOOK_TARGET_ALLOWLIST', '2852039166'],
  ['RANBOOK_TARGET_ALLOWLIST', 'fd00::/129'],
  ['RANBOOK_TARGET_ALLOWLIST', '[fd00::]/8'],
  ['RANBOOK_TARGET_ALLOWLIST', 'fe80::1%eth0'],
  ['RANBOOK_TARGET_ALLOWLIST', '::ffff:10.0.0.0/104'],
  ['RANBOOK_TARGET_ALLOWLIST', '64:ff9b::/96'],
  ['LOG_LEVEL', 'verbose'],
  ['LOG_LEVEL', 'INFO'],
  ['RANBOOK_EXIT_WITH_STDIN', 'yes'],
])('%s=%j stops the start with a sentence that names it', (name, value) => {
  const named = faults({ [name]: value })
  expect(named).toHaveLength(1)
  expect(named[0]).toMatch(new RegExp(`^${name} must .+\\.$`))
})

test('a wrong secret is named and never shown', () => {
  const text = faults({
    RANBOOK_ADMIN_KEY: 'canary-short',
    DATABASE_URL: 'mysql://canary:canary@host/db',
    REDIS_URL: 'redis://canary:canary%@canary/db',
  }).join(' ')
  for (const name of ['RANBOOK_ADMIN_KEY', 'DATABASE_URL', 'REDIS_URL']) expect(text).toContain(name)
  expect(text).not.toContain('canary')
})

test.each([
  'redis://cache',
  'rediss://:secret@cache:6380/2',
  'redis+sentinel://one,two:26379/mymaster/1',
  'redis+cluster://one:7000',
  'redis://one:7000,two:7000,[::1]:7001',
])('%s is taken as the address of a Redis', (url) => {
  expect(ready({ REDIS_URL: url }).config.redisUrl).toBe(url)
})

test('all wrong variables are named at once', () => {
  const named = faults({ PORT: 'x', LOG_LEVEL: 'loud', RANBOOK_WORKERS: 'many' })
  expect(named.map((sentence) => sentence.split(' ')[0])).toEqual(['PORT', 'RANBOOK_WORKERS', 'LOG_LEVEL'])
})

test.each(['RANBOOK_REWOUND_TO', 'RANBOOK_PAYLOAD_KEY_FILE'])(
  '%s stops the start, as the safety it asks for is not built',
  (name) => {
    expect(faults({ [name]: '2026-01-01T00:00:00.000Z' })).toEqual([
      expect.stringContaining(`${name} is not available`),
    ])
  },
)

test('targets may be listed as names, patterns, addresses and ranges, in any spelling that a URL takes', () => {
  const list =
    ' hooks.example.com , *.Internal.example., bücher.example,127.0.0.1,10.1.2.3/8,::1,FD00:0::/8,0.0.0.0/0,::/0'
  expect(ready({ RANBOOK_TARGET_ALLOWLIST: list }).config.targetAllowlist).toEqual({
    names: ['hooks.example.com', 'xn--bcher-kva.example'],
    suffixes: ['.internal.example'],
    ranges: [
      { address: '127.0.0.1', prefixBits: 32 },
      { address: '10.1.2.3', prefixBits: 8 },
      { address: '::1', prefixBits: 128 },
      { address: 'fd00::', prefixBits: 8 },
      { address: '0.0.0.0', prefixBits: 0 },
      { address: '::', prefixBits: 0 },
    ],
  })
})

test('the wrong entry of a list of targets is named', () => {
  expect(faults({ RANBOOK_TARGET_ALLOWLIST: 'a.example,10.0.0.0/99' }).join()).toContain(
    '"10.0.0.0/99" is none of these',
  )
})

test.each([
  ['RANBOOK_WORKER', 'RANBOOK_WORKERS'],
  ['RANBOOK_SWEEP_INTERVAL', 'RANBOOK_SWEEP_INTERVAL_MS'],
  ['RANBOOK_DATADIR', 'RANBOOK_DATA_DIR'],
  ['RANBOOK_ADMINKEY', 'RANBOOK_ADMIN_KEY'],
  ['RANBOOK_PORT', 'PORT'],
  ['RANBOOK_DATABASE_URL', 'DATABASE_URL'],
])('%s is unknown and the warning names %s', (unknown, meant) => {
  expect(ready({ [unknown]: 'x' }).warnings).toEqual([expect.stringMatching(new RegExp(`^${unknown} .* ${meant}\\?$`))])
})
