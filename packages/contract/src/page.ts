import { z } from 'zod'
import { limits } from './limits.ts'

const limitFault = `must be a whole number from 1 to ${limits.pageMaxItems}`

/** Query parameters of every list: how many items, and where the page before ended. */
export const pageFields = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, { error: limitFault })
    .transform(Number)
    .refine((count) => count >= 1 && count <= limits.pageMaxItems, { error: limitFault })
    .optional()
    .meta({ description: `At most this many items; ${limits.pageDefaultItems} unless given.` }),
  cursor: z.string().min(1).max(2048).optional().meta({ description: '`next_cursor` of the page before, unchanged.' }),
}

/** A page of a list. `next_cursor` null: this was the last one. */
export function pageOf<Item extends z.ZodType>(
  item: Item,
): z.ZodObject<{ data: z.ZodArray<Item>; next_cursor: z.ZodNullable<z.ZodString> }, z.core.$strict> {
  return z.strictObject({ data: z.array(item), next_cursor: z.string().nullable() })
}
