/** Bytes of an error's JSON text that a window keeps: a sentence and a code, not a trace. Memory is dear there. */
const windowErrorMaxBytes = 1024

/** Split characters are dropped. */
const halfCharacter = /[\ud800-\udbff]$/

/**
 * The JSON text of an error as windows keep it: as it is up to `windowErrorMaxBytes`; else its message, cut, and its
 * code, without the detail.
 */
export function shortError(text: string | null): string | null {
  if (text === null || Buffer.byteLength(text) <= windowErrorMaxBytes) return text
  const given: unknown = JSON.parse(text)
  const code = memberOf(given, 'code')
  let message = memberOf(given, 'message') ?? text
  const shortened = (): string =>
    JSON.stringify({ message: `${message}… [cut]`, ...(code === undefined ? {} : { code }) })
  message = message.slice(0, windowErrorMaxBytes)
  while (message !== '' && Buffer.byteLength(shortened()) > windowErrorMaxBytes) {
    // What is left grows by up to six bytes a character.
    message = message.slice(0, Math.floor(message.length * 0.8)).replace(halfCharacter, '')
  }
  return shortened()
}

function memberOf(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const member = (value as Record<string, unknown>)[name]
  return typeof member === 'string' ? member : undefined
}
