import type { ClassEra, ClassPlaces, PlacesKnown, WindowLoss, WindowLossCause } from '@ranbook/rules'

/** What `READ_POLICIES` answers of places, each as one JSON text. */
export type PlacesRow = { eras: string; places: string; losses: string }

type EraRow = { class: string; since: number; store: number; window_ms: number }
type PlaceRow = { class: string; redis_until: number | null; postgres_until: number | null; ledger_held: boolean }
type LossRow = {
  class: string | null
  cause: string
  from_at: number
  to_at: number
  until_at: number
  detail: string | null
}

/** Numbers of stores, as `class_era` holds them. They are data: never give a number another meaning. */
export const eraStoreCodes = { ledger: 1, window: 2 } as const satisfies Record<ClassEra['store'], number>

/** What is known of where classes are kept, from the texts of its rows. */
export function placesKnown(texts: PlacesRow): PlacesKnown {
  const eras = new Map<string, ClassEra[]>()
  for (const { class: name, since, store, window_ms } of JSON.parse(texts.eras) as EraRow[]) {
    const era = { since, store: store === eraStoreCodes.ledger ? 'ledger' : 'window', windowMs: window_ms } as const
    const others = eras.get(name)
    if (others === undefined) eras.set(name, [era])
    else others.push(era)
  }
  const places = (JSON.parse(texts.places) as PlaceRow[]).map((row): [string, ClassPlaces] => [
    row.class,
    { redisUntil: row.redis_until, postgresUntil: row.postgres_until, ledgerHeld: row.ledger_held },
  ])
  const losses = (JSON.parse(texts.losses) as LossRow[]).map(
    (row): WindowLoss => ({
      class: row.class,
      cause: row.cause as WindowLossCause,
      fromAt: row.from_at,
      toAt: row.to_at,
      untilAt: row.until_at,
      detail: row.detail,
    }),
  )
  return { eras, places: new Map(places), losses }
}
