import { type ClassEra, type ClassKept, defaultPolicy, type KeptFacts, matchPolicyName } from '@ranbook/rules'
import type { Session } from './lane.ts'
import { onlyRow } from './only-row.ts'
import { type PlacesRow, placesKnown } from './place-rows.ts'

/**
 * $1 [class, …], $2 the longest that a window remembers, in ms. How these classes are kept: eras, places, what retention
 * forgot, every policy's store and window, and losses that records in windows may still be missed for, in one snapshot.
 * An outage loses nothing.
 */
const READ_KEPT = `
WITH asked AS MATERIALIZED (
  SELECT class FROM json_array_elements_text($1::text::json) AS c (class)
)
SELECT floor(extract(epoch FROM now()) * 1000)::float8 AS now,
       coalesce((SELECT json_agg(e ORDER BY e.since)::text FROM (
         SELECT class, floor(extract(epoch FROM since) * 1000)::float8 AS since, store, window_ms
         FROM class_era WHERE class IN (SELECT class FROM asked)
       ) e), '[]') AS eras,
       coalesce((SELECT json_agg(p)::text FROM (
         SELECT class, floor(extract(epoch FROM redis_until) * 1000)::float8 AS redis_until,
                floor(extract(epoch FROM postgres_until) * 1000)::float8 AS postgres_until, ledger_held
         FROM class_place WHERE class IN (SELECT class FROM asked)
       ) p), '[]') AS places,
       coalesce((SELECT json_agg(l)::text FROM (
         SELECT class, cause, floor(extract(epoch FROM from_at) * 1000)::float8 AS from_at,
                ceil(extract(epoch FROM to_at) * 1000)::float8 AS to_at,
                floor(extract(epoch FROM until_at) * 1000)::float8 AS until_at, detail
         FROM window_loss
         WHERE cause <> 'outage' AND (class IS NULL OR class IN (SELECT class FROM asked))
           AND to_at > now() - $2::float8 * interval '1 millisecond'
         ORDER BY to_at DESC LIMIT 1000
       ) l), '[]') AS losses,
       coalesce((SELECT json_agg(r)::text FROM (
         SELECT class, ceil(extract(epoch FROM keys_complete_since) * 1000)::float8 AS since
         FROM class_retention WHERE class IN (SELECT class FROM asked) AND keys_complete_since IS NOT NULL
       ) r), '[]') AS retention,
       coalesce((SELECT json_agg(p)::text FROM (
         SELECT name, policy->>'store' AS store, policy->>'window_ms' AS window_ms FROM class_policy
       ) p), '[]') AS policies`

type KeptRow = PlacesRow & { now: number; retention: string; policies: string }
type StoreRow = { name: string; store: string | null; window_ms: string | null }

/** Longer than any window remembers a record whose lease is over. */
const longestMs = 2 * 31_622_400_000

/** `KeptFacts` of these classes, as they stand now. */
export async function readKept(session: Session, classNames: readonly string[]): Promise<KeptFacts> {
  const rows = await session.unsafe<KeptRow[]>(READ_KEPT, [JSON.stringify(classNames), longestMs])
  const { now, retention, policies, ...places } = onlyRow(rows)
  const known = placesKnown(places)
  const byName = new Map((JSON.parse(policies) as StoreRow[]).map((row) => [row.name, row]))
  const forgotten = new Map(
    (JSON.parse(retention) as { class: string; since: number }[]).map((row) => [row.class, row.since]),
  )
  const classes = classNames.map((name): [string, ClassKept] => {
    const [first, ...later] = known.eras.get(name) ?? []
    return [
      name,
      {
        eras: first === undefined ? [soleEra(name, byName)] : [first, ...later],
        places: known.places.get(name) ?? null,
        keysCompleteSince: forgotten.get(name) ?? null,
      },
    ]
  })
  return { now, classes: new Map(classes), losses: known.losses }
}

/** Of a class that never moved. What a newer version stored and this one can't read counts as a window without memory. */
function soleEra(className: string, byName: ReadonlyMap<string, StoreRow>): ClassEra {
  const name = matchPolicyName(className, (one) => byName.has(one))
  const row = name === null ? undefined : byName.get(name)
  const store = row?.store ?? defaultPolicy.store
  const windowMs = Number(row?.window_ms ?? defaultPolicy.window_ms)
  if (store === 'ledger') return { since: 0, store, windowMs }
  return { since: 0, store: 'window', windowMs: store === 'window' && windowMs > 0 ? windowMs : 0 }
}
