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
 * Nobody fails, releases or replays anything in these histories, so a next attempt needs an expired lease.
 */
export function violations(history: History, standing: ReadonlyMap<string, Standing>): string[] {
  const grants = groupByKey(history.grants)
  const completions = groupByKey(history.completions)
  const duplicates = groupByKey(history.duplicates)
  return [...new Set([...grants.keys(), ...completions.keys(), ...duplicates.keys()])].flatMap((key) => {
    const granted = (grants.get(key) ?? []).toSorted((a, b) => a.fencingToken - b.fencingToken)
    const completed = completions.get(key) ?? []
    const seen = duplicates.get(key) ?? []
    const faults = [
      ...grantFaults(granted),
      ...takeoverFaults(granted, completed),
      ...resultFaults(granted, completed, seen),
      ...lossFaults(granted, completed, seen, standing.get(key)),
    ]
    return faults.map((fault) => `${fault} (${key})`)
  })
}

/** Grants in the order of their fencing tokens. */
function grantFaults(grants: readonly Grant[]): string[] {
  return grants.flatMap((later, at) =>
    grants.slice(0, at).flatMap((earlier) => {
      const sameAttempt = earlier.generation === later.generation && earlier.attempt === later.attempt
      if (earlier.token === later.token) {
        return sameAttempt && earlier.fencingToken === later.fencingToken
          ? []
          : ['S8: one token was granted two attempts']
      }
      const faults: string[] = []
      if (sameAttempt) faults.push('S1: one attempt was granted to two tokens')
      if (later.answeredAt < earlier.invokedAt + earlier.leaseMs) faults.push('S2: granted while a lease was live')
      if (later.fencingToken === earlier.fencingToken) faults.push('S9: two grants have one fencing token')
      if (later.generation === earlier.generation && later.attempt < earlier.attempt)
        faults.push('S9: attempts step back')
      if (later.answeredAt < earlier.invokedAt) faults.push('S9: the fencing token steps back')
      return faults
    }),
  )
}

function takeoverFaults(grants: readonly Grant[], completions: readonly Completion[]): string[] {
  return completions.flatMap(({ token, invokedAt }) => {
    const own = grants.find((grant) => grant.token === token)
    const takenOver = grants.some(
      (grant) => own !== undefined && grant.fencingToken > own.fencingToken && grant.answeredAt < invokedAt,
    )
    return takenOver ? ['S3: a token completed after somebody else was granted'] : []
  })
}

function resultFaults(
  grants: readonly Grant[],
  completions: readonly Completion[],
  duplicates: readonly Duplicate[],
): string[] {
  const results = new Set([...completions, ...duplicates].map(({ result }) => result))
  const faults = results.size > 1 ? ['S4: two results were shown for one generation'] : []
  const settledAt = Math.min(...[...completions, ...duplicates].map(({ answeredAt }) => answeredAt))
  if (grants.some(({ invokedAt }) => invokedAt > settledAt)) faults.push('S5: granted after it was completed')
  return faults
}

function lossFaults(
  grants: readonly Grant[],
  completions: readonly Completion[],
  duplicates: readonly Duplicate[],
  standing: Standing | undefined,
): string[] {
  if (standing === undefined) return ['S6: an acknowledged record is gone']
  const acknowledged = [...completions, ...duplicates][0]
  const faults: string[] = []
  if (grants.some(({ attempt }) => attempt > standing.attempt)) faults.push('S6: an acknowledged grant is gone')
  if (acknowledged !== undefined && standing.state !== 'completed') faults.push('S6: an acknowledged complete is gone')
  else if (acknowledged !== undefined && standing.result !== acknowledged.result)
    faults.push('S4: another result stands')
  return faults
}

function groupByKey<T extends { key: string }>(events: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const event of events) {
    const group = groups.get(event.key)
    if (group) group.push(event)
    else groups.set(event.key, [event])
  }
  return groups
}
