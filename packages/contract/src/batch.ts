import { z } from 'zod'
import { limits } from './limits.ts'

const countFault = `must hold 1 to ${limits.batchMaxItems} items`

/** The items of a batch call. */
export function batchOf<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return z
    .array(item, { error: (issue) => (issue.input === undefined ? 'required' : 'must be an array') })
    .min(1, countFault)
    .max(limits.batchMaxItems, countFault)
}
