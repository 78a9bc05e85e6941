import { StoreError } from '@ranbook/rules'
import type { Cell, CellInsert, CellPort } from '../window/cell-port.ts'
import { bytesArray, plainArray } from './array-literal.ts'
import type { Runner } from './lane.ts'
import { storedDigest, storedTime } from './stored-fields.ts'

// Every time is the statement's start: a cell is over once `expires_at` is not after it. Ids ascend, no id twice.

/**
 * Sets cells where none stands, or one that is over. Answers those it set: id and fencing number.
 *
 * $1 id, $2 body, $3 how long it lasts, in ms: arrays of one length.
 */
export const INSERT_CELLS = `
INSERT INTO window_cell AS c (id, version, fencing_token, expires_at, body)
SELECT t.id, 1, clock.us, clock.at + t.lasts_ms * interval '1 millisecond', t.body
FROM (
  SELECT now() AS at, floor(extract(epoch FROM now()) * 1000000)::bigint AS us OFFSET 0
) AS clock
CROSS JOIN unnest($1::uuid[], $2::bytea[], $3::float8[]) AS t (id, body, lasts_ms)
ON CONFLICT (id) DO UPDATE
  SET version = 1, fencing_token = greatest(c.fencing_token + 1, EXCLUDED.fencing_token),
      expires_at = EXCLUDED.expires_at, body = EXCLUDED.body
  WHERE c.expires_at <= now()
RETURNING id, fencing_token`

/** $1 id: an array. Answers its place, the clock, and the cell. */
export const READ_CELLS = `
SELECT t.place::int, date_part('epoch', date_trunc('milliseconds', now())), c.version, c.fencing_token,
  encode(c.body, 'hex')
FROM unnest($1::uuid[]) WITH ORDINALITY AS t (id, place)
JOIN window_cell AS c ON c.id = t.id
WHERE c.expires_at > now()`

/**
 * Writes over what stands. Answers id and fencing number of what it wrote.
 *
 * $1 id, $2 version and $3 fencing number that have to stand, $4 whether a number is drawn, $5 body, $6 until when it
 * lasts, in seconds since 1970: arrays of one length.
 */
export const SWAP_CELLS = `
UPDATE window_cell AS c
SET version = c.version + 1, body = t.body, expires_at = to_timestamp(t.expires_at),
  fencing_token = CASE WHEN t.grants
    THEN greatest(c.fencing_token + 1, floor(extract(epoch FROM now()) * 1000000)::bigint) ELSE c.fencing_token END
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::boolean[], $5::bytea[], $6::float8[])
  AS t (id, expected_version, expected_fencing, grants, body, expires_at)
WHERE c.id = t.id AND c.version = t.expected_version AND c.fencing_token = t.expected_fencing AND c.expires_at > now()
RETURNING c.id, c.fencing_token`

/** Removes cells that are over, the oldest first. $1 how many at most. Answers how many. */
export const REMOVE_OVER = `
WITH over AS (SELECT id FROM window_cell WHERE expires_at <= now() ORDER BY expires_at LIMIT $1::int),
removed AS (
  DELETE FROM window_cell AS c USING over WHERE c.id = over.id AND c.expires_at <= now() RETURNING c.id
)
SELECT count(*)::int FROM removed`

/** A cell that comes and goes as often while it is to be set is in no race any more. */
const roundsMax = 5

type SetRow = readonly [id: string, fencingToken: string]
type CellRow = readonly [place: number, now: number, version: string, fencingToken: string, body: string]

/** Cells of windows in a table, with Postgres' clock. Each call is one autocommit statement, answered after its commit. */
export function createWindowCells(runner: Runner): CellPort {
  const read: CellPort['read'] = async (ids) => {
    const found: ({ cell: Cell; now: number } | null)[] = new Array(ids.length).fill(null)
    if (ids.length === 0) return found
    for (const [place, now, version, fencingToken, body] of await runner.run<CellRow>(READ_CELLS, [plainArray(ids)])) {
      const cell = { version: Number(version), fencingToken: Number(fencingToken), body: Buffer.from(body, 'hex') }
      found[place - 1] = { cell, now: storedTime(now) }
    }
    return found
  }

  return {
    read,

    async insert(items) {
      const outcomes: { inserted: boolean; cell: Cell; now: number }[] = new Array(items.length)
      let open = items.map((item, at) => ({ item, at }))
      for (let round = 0; open.length > 0; round++) {
        if (round === roundsMax) throw new StoreError('overloaded', 'cells came and went faster than they could be set')
        const placed = open.toSorted((a, b) => (a.item.id < b.item.id ? -1 : 1))
        const places = new Map(placed.map((one) => [one.item.id, one]))
        for (const [id, number] of await runner.run<SetRow>(INSERT_CELLS, insertParameters(placed))) {
          const { item, at } = places.get(storedDigest(id)) as (typeof open)[number]
          const fencingToken = Number(number)
          const cell = { version: 1, fencingToken, body: item.body }
          outcomes[at] = { inserted: true, cell, now: Math.floor(fencingToken / 1000) }
        }
        const standing = open.filter(({ at }) => outcomes[at] === undefined)
        const found = await read(standing.map(({ item }) => item.id))
        for (const [index, { at }] of standing.entries()) {
          const one = found[index]
          if (one) outcomes[at] = { inserted: false, ...one }
        }
        open = standing.filter(({ at }) => outcomes[at] === undefined)
      }
      return outcomes
    },

    async swap(items) {
      const outcomes: ({ fencingToken: number } | null)[] = new Array(items.length).fill(null)
      const placed = items.map((item, at) => ({ item, at })).sort((a, b) => (a.item.id < b.item.id ? -1 : 1))
      const places = new Map(placed.map((one) => [one.item.id, one.at]))
      const sorted = placed.map(({ item }) => item)
      const rows = await runner.run<SetRow>(SWAP_CELLS, [
        plainArray(sorted.map(({ id }) => id)),
        plainArray(sorted.map(({ expected }) => expected.version)),
        plainArray(sorted.map(({ expected }) => expected.fencingToken)),
        plainArray(sorted.map(({ grants }) => String(grants))),
        bytesArray(sorted.map(({ body }) => body.toString('hex'))),
        plainArray(sorted.map(({ expiresAt }) => expiresAt / 1000)),
      ])
      for (const [id, number] of rows)
        outcomes[places.get(storedDigest(id)) as number] = { fencingToken: Number(number) }
      return outcomes
    },
  }
}

/** Removes cells that are over, at most `limit`, the oldest first. Returns how many. */
export async function removeWindowCellsOver(runner: Runner, limit: number): Promise<number> {
  const [row] = await runner.run<readonly [removed: number]>(REMOVE_OVER, [limit])
  return row?.[0] ?? 0
}

function insertParameters(placed: readonly { item: CellInsert }[]): (string | null)[] {
  return [
    plainArray(placed.map(({ item }) => item.id)),
    bytesArray(placed.map(({ item }) => item.body.toString('hex'))),
    plainArray(placed.map(({ item }) => item.lastsMs)),
  ]
}
