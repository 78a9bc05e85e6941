import { type JsonReading, type JsonShape, readJson } from '../src/read-json.ts'

/** Shapes of the bodies that the service takes. */
export const claim = { payload: 'text' } as const
export const settlement = { result: 'text', error: { detail: 'text' } } as const
export const claims = { claims: [claim, 1000] } as const
export const settlements = { settlements: [settlement, 1000] } as const

/** Reads a body given as text. */
export function read(text: string, shape: JsonShape = claim): JsonReading {
  return readJson(Buffer.from(text, 'utf8'), shape)
}

/** What a body that must be taken says. */
export function readValue(text: string, shape: JsonShape = claim): Record<string, unknown> {
  const reading = read(text, shape)
  if (!reading.ok) throw new Error(reading.detail)
  return reading.value as Record<string, unknown>
}

/** Why a body that must be refused is refused. */
export function readRefusal(text: string | Uint8Array, shape: JsonShape = claim): string {
  const reading = readJson(typeof text === 'string' ? Buffer.from(text, 'utf8') : text, shape)
  if (reading.ok) throw new Error('was read')
  return reading.detail
}
