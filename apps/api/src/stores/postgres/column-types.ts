import { customType } from 'drizzle-orm/pg-core'

/** Text that is compared and sorted by its bytes: identity knows no locale, and an index outlives an ICU upgrade. */
export const bytewiseText = customType<{ data: string }>({ dataType: () => 'text COLLATE "C"' })

/**
 * A `json` column seen as its text, digit for digit. The client must not parse it either: `openPostgres` gives drizzle
 * one that does not.
 */
export const jsonText = customType<{ data: string; driverData: string }>({ dataType: () => 'json' })

/** Bytes. */
export const bytes = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })

/** A time in whole milliseconds, so that nothing rounds between the database and JavaScript. */
export const time = customType<{ data: Date; driverData: string }>({
  dataType: () => 'timestamp (3) with time zone',
  toDriver: (value) => value.toISOString(),
  fromDriver: (value) => new Date(value),
})

/** `text[]`, each element compared by its bytes. */
export const bytewiseTextArray = customType<{ data: string[] }>({ dataType: () => 'text[] COLLATE "C"' })
