/** What clients were told, by one monotonic clock (ms). Only full answers count: what was not answered is not here. */
export type History = {
  grants: Grant[]
  completions: Completion[]
  duplicates: Duplicate[]
}

/** A 201: this token may run the key now. */
export type Grant = {
  key: string
  id: string
  token: string
  generation: number
  attempt: number
  fencingToken: number
  leaseMs: number
  invokedAt: number
  answeredAt: number
}

/** A 200 to a complete. `result` is its JSON text. */
export type Completion = { key: string; token: string; result: string; invokedAt: number; answeredAt: number }

/** A `duplicate`: the key ran already, with this result. */
export type Duplicate = { key: string; result: string; answeredAt: number }

/** How a record stands when it is read back through the API afterwards. */
export type Standing = { key: string; state: string; generation: number; attempt: number; result: string }

/**
 * What an outside observer can hold against the service: each broken promise as a sentence that begins with its number.
 * Nobody released, failed or replayed anything in these histories, so a next attempt needs an expired lease.
 */
export function violations(history: History, standing: ReadonlyMap<string, Standing>): string[] {
  const keys = new Set([...history.grants, ...history.completions, ...history.duplicates].map(({ key }) => key))
  const byKey = {
    grants: Map.groupBy?.(history.grants, ({ key }) => key) ?? groupByKey(history.grants),
    completions: groupByKey(history.completions),
    duplicates: groupByKey(history.duplicates),
  }
  return [...keys].flatMap((key) => {
    const grants = (byKey.grants.get(key) ?? []).toSorted((a, b) => a.fencingToken - b.fencingToken)
    const completions = byKey.completions.get(key) ?? []
    return [
      ...grantFaults(key, grants),
      ...takeoverFaults(key, grants, completions),
      ...resultFaults(key, completions, byKey.duplicates.get(key) ?? []),
      ...lossFaults(key, grants, completions, standing.get(key)),
    ]
  })
}
