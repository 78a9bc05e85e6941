import { z } from 'zod'

const prefix = 'whsec_'
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const minBytes = 24
const maxBytes = 64

/**
 * The secret of a webhook as Standard Webhooks writes it: `whsec_` and, in base64 with its padding, 24 to 64 random
 * bytes. Kept as the text that was given; a fault never repeats it.
 */
export const webhookSecretField: z.ZodString = z
  .string({ error: (issue) => (issue.input === undefined ? 'required' : 'must be a string') })
  .refine(isWebhookSecret, {
    error: `must be ${prefix} followed by ${minBytes} to ${maxBytes} random bytes in base64 with its padding, as \`openssl rand -base64 32\` prints them`,
  })
  .meta({ description: `\`${prefix}\` and ${minBytes} to ${maxBytes} bytes in base64; signs what is sent.` })

function isWebhookSecret(text: string): boolean {
  const encoded = text.slice(prefix.length)
  if (!text.startsWith(prefix) || !base64.test(encoded)) return false
  const padding = encoded.length - encoded.replace(/=+$/, '').length
  const bytes = (encoded.length / 4) * 3 - padding
  return bytes >= minBytes && bytes <= maxBytes
}
