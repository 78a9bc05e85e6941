import { z } from 'zod'
import { limits } from './limits.ts'
import { checkText } from './text-limits.ts'

/** A zod string of at most `maxBytes` UTF-8 bytes without control characters or lone surrogates. */
function boundedText(maxBytes: number, description: string): z.ZodString {
  return z
    .string({ error: (issue) => (issue.input === undefined ? 'required' : 'must be a string') })
    .superRefine((value, ctx) => {
      const fault = checkText(value, { minBytes: 1, maxBytes })
      if (fault !== null) ctx.addIssue({ code: 'custom', message: fault })
    })
    .meta({ description: `${description} 1 to ${maxBytes} bytes of UTF-8, no control characters.`, minLength: 1 })
}

/** The dedup key: 1 to 1 024 bytes, byte-exact. */
export const keyField: z.ZodString = boundedText(limits.keyMaxBytes, 'Dedup key, byte-exact.')

/** A name such as an owner, a source or a reference: 1 to 200 bytes. */
export const nameField: z.ZodString = boundedText(limits.nameMaxBytes, 'Name.')

/** A class as a claim names it: `*` is kept for policy patterns. */
export const classField: z.ZodString = nameField.refine((value) => !value.includes('*'), {
  error: 'must not contain *, which is kept for policy patterns',
})

/** Why a person does something; shown in the audit. */
export const reasonField: z.ZodString = boundedText(limits.reasonMaxBytes, 'Why, for the audit.')

/** RFC 3339 time in UTC with milliseconds, as every answer writes it. */
export const timeField: z.ZodISODateTime = z.iso
  .datetime({ error: 'must be an RFC 3339 time in UTC, such as 2026-11-30T10:00:00.000Z' })
  .meta({ pattern: undefined, format: 'date-time' })

const seqFault = 'must be a non-negative integer, as a decimal string or a number up to 2^53 - 1'

/** Sequence number: a decimal string, or a number up to 2^53 - 1; always a string in answers. */
export const seqField: z.ZodType<string, string | number> = z
  .union([z.string().regex(/^(0|[1-9]\d{0,18})$/, seqFault), z.int(seqFault).min(0, seqFault)], { error: seqFault })
  .transform(String)
  .refine((value) => BigInt(value) <= limits.seqMax, { error: `must be at most ${limits.seqMax}` })

/** A claim token: any UUID, compared without regard to case and answered in lower case. */
export const claimTokenField: z.ZodType<string, string> = z
  .string({ error: (issue) => (issue.input === undefined ? 'required' : 'must be a UUID') })
  .regex(/^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$/, { error: 'must be a UUID' })
  .transform((value) => value.toLowerCase())

/** A whole number of milliseconds between two bounds. */
export function durationField(minMs: number, maxMs: number): z.ZodInt {
  const message = `must be a whole number of milliseconds from ${minMs} to ${maxMs}`
  return z
    .int({ error: (issue) => (issue.input === undefined ? 'required' : message) })
    .min(minMs, message)
    .max(maxMs, message)
}

/** Any JSON value; kept as the text it came as. */
export const opaqueField: z.ZodUnknown = z.unknown().meta({ description: 'Any JSON, kept digit for digit.' })
