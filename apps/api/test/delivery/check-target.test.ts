import { expect, test } from 'vitest'
import { checkTarget } from '../../src/delivery/check-target.ts'
import { parseTargetAllowlist } from '../../src/delivery/target-allowlist.ts'
import { createTargetRules } from '../../src/delivery/target-rules.ts'

const rules = createTargetRules(null)

test.each([
  ['https://hooks.example.com/ranbook?tenant=7', 'hooks.example.com'],
  ['http://localhost:3000/', 'localhost'],
  ['http://my_service:8080/hook', 'my_service'],
  ['http://127.0.0.1:3000', '127.0.0.1'],
  ['http://[::1]:3000/', '::1'],
  ['http://10.0.0.8/', '10.0.0.8'],
  ['http://[::ffff:10.0.0.8]/', '::ffff:a00:8'],
  ['HTTPS://Hooks.Example.COM', 'hooks.example.com'],
  ['https://bücher.example/', 'xn--bcher-kva.example'],
])('%s may be a target, and its host is %s', (text, host) => {
  expect(checkTarget(rules, text)).toEqual({ kind: 'allowed', url: new URL(text), host })
})

test.each([
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.169.254./',
  'http://2852039166/',
  'http://0xA9FEA9FE/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://0251.254.0xa9.254/',
  'http://169.254.43518/',
  'http://169.16689662/',
  'http://025177524776/',
  'http://169%2e254%2e169%2e254/',
  'http://%31%36%39.254.169.254/',
  'http://１６９.２５４.１６９.２５４/',
  'http://169。254。169。254/',
  'http:169.254.169.254/',
  'http:\\\\169.254.169.254\\',
  ' http://169.254.169.254/',
  'ht\ntp://169.254.169\t.254/',
  'http://0/',
  'http://0.0.0.0:8080/',
  'http://255.255.255.255/',
  'http://224.0.0.251/',
  'http://100.100.100.200/latest/meta-data/',
  'http://[::]/',
  'http://[fe80::1]/',
  'http://[ff02::1]/',
  'http://[fd00:ec2::254]/latest/meta-data/',
  'http://[fd20:ce::254]/computeMetadata/v1/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[0:0:0:0:0:ffff:169.254.169.254]/',
  'http://[::169.254.169.254]/',
  'http://[64:ff9b::169.254.169.254]/',
  'http://[2002:a9fe:a9fe::]/',
])('%j is refused, as nothing is ever sent to that address', (text) => {
  expect(checkTarget(rules, text)).toEqual({
    kind: 'refused',
    reason: expect.stringMatching(/^[0-9a-f.:]+ is .+, and nothing is ever sent there\.$/),
  })
})

test.each([
  ['', 'not a URL'],
  ['hooks.example.com', 'not a URL'],
  ['/ranbook', 'not a URL'],
  ['http://', 'not a URL'],
  ['http://[fe80::1%25eth0]/', 'not a URL'],
  ['http://[fe80::1%eth0]/', 'not a URL'],
  ['http://[::1', 'not a URL'],
  ['http://1.2.3.4.5/', 'not a URL'],
  ['http://256.256.256.256/', 'not a URL'],
  ['http://hooks.example.com:70000/', 'not a URL'],
  ['http://hooks example.com/', 'not a URL'],
  ['ftp://hooks.example.com/', 'https://'],
  ['file:///etc/passwd', 'https://'],
  ['gopher://hooks.example.com/', 'https://'],
  ['javascript:alert(1)', 'https://'],
  ['data:text/plain,canary', 'https://'],
  ['ws://hooks.example.com/', 'https://'],
  ['unix:/var/run/docker.sock', 'https://'],
  ['localhost:3000', 'https://'],
  ['https://canary:canary@hooks.example.com/', 'user'],
  ['https://canary@hooks.example.com/', 'user'],
  ['https://:canary@hooks.example.com/', 'user'],
  ['https://hooks.example.com@canary.test/', 'user'],
  ['https://hooks.example.com/#canary', 'fragment'],
  ['https://hooks.example.com/#', 'fragment'],
])('%j is refused with a sentence that names the fault and shows nothing of it', (text, named) => {
  const check = checkTarget(rules, text)
  expect(check).toEqual({ kind: 'refused', reason: expect.stringMatching(/^The target .+\.$/) })
  expect(JSON.stringify(check)).toContain(named)
  expect(JSON.stringify(check)).not.toContain('canary')
})

test('an allow-list judges literal addresses and, as far as it names no ranges, names', () => {
  const listed = createTargetRules(parseTargetAllowlist('hooks.example.com,10.0.0.0/8'))
  expect(checkTarget(listed, 'http://10.1.1.1/').kind).toBe('allowed')
  expect(checkTarget(listed, 'http://[::ffff:10.1.1.1]/').kind).toBe('allowed')
  expect(checkTarget(listed, 'http://11.1.1.1/')).toEqual({
    kind: 'refused',
    reason: '11.1.1.1 is not in RANBOOK_TARGET_ALLOWLIST.',
  })
  expect(checkTarget(listed, 'https://worker/').kind).toBe('allowed')
  const names = createTargetRules(parseTargetAllowlist('hooks.example.com'))
  expect(checkTarget(names, 'https://worker/').kind).toBe('refused')
  expect(checkTarget(names, 'https://HOOKS.example.com./').kind).toBe('allowed')
})
