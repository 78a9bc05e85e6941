import { limits } from '@ranbook/contract'
import { JsonText } from '@ranbook/rules'
import { HttpProblem } from './problem.ts'

/**
 * The text of a member that was read as `JsonText`, or null when it is absent (the text `null` is a value). Throws 413
 * above `maxBytes`, 256 KiB unless said otherwise; `path` names the member there.
 */
export function opaqueText(value: unknown, path: string, maxBytes: number = limits.opaqueMaxBytes): string | null {
  if (value === undefined) return null
  if (!(value instanceof JsonText)) throw new Error(`${path} was not read as text`)
  const { text } = value
  // No text is longer in UTF-16 units than in bytes, nor three times shorter.
  if (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes) {
    throw new HttpProblem('payload_too_large', `${path} may have at most ${maxBytes} bytes as JSON text.`)
  }
  return text
}
