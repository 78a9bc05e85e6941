import { expect, test } from 'vitest'
import { policySchema } from '../src/policy.ts'
import { webhookSecretField } from '../src/webhook-secret.ts'

const secretOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 0xfb).toString('base64')}`

test.each([24, 25, 26, 32, 63, 64])('a webhook secret of %d bytes is taken as it is', (bytes) => {
  expect(webhookSecretField.parse(secretOf(bytes))).toBe(secretOf(bytes))
})

test.each([
  ['23 bytes', secretOf(23)],
  ['65 bytes', secretOf(65)],
  ['nothing after the prefix', 'whsec_'],
  ['no prefix', secretOf(32).slice('whsec_'.length)],
  ['another prefix', `whpk_${secretOf(32).slice('whsec_'.length)}`],
  ['missing padding', secretOf(32).replace(/=+$/, '')],
  ['the alphabet of base64url', secretOf(32).replaceAll('+', '-').replaceAll('/', '_')],
  ['a line break', `${secretOf(32)}\n`],
  ['a space within', secretOf(32).replace('whsec_', 'whsec_ ')],
  ['no text', 32],
])('a webhook secret with %s is refused, and the fault does not repeat it', (_fault, secret) => {
  const [issue] = webhookSecretField.safeParse(secret).error?.issues ?? []
  expect(issue?.message).toMatch(/^must be /)
  expect(JSON.stringify(issue)).not.toContain(String(secret).slice(6, 30) || 'whsec_+')
})

test('the secret of a replay target is judged like any other', () => {
  const policyWith = (secret: string) =>
    policySchema.safeParse({ replay_target: { url: 'https://hooks.example.com/', secret } })
  expect(policyWith(secretOf(32)).success).toBe(true)
  const [issue] = policyWith(secretOf(23)).error?.issues ?? []
  expect(issue).toMatchObject({ path: ['replay_target', 'secret'], message: expect.stringContaining('whsec_') })
})
