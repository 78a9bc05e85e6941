/** One record of a window as a store keeps it: a few bytes that only `window-codec.ts` understands. */
export type Cell = {
  /** 1 for a fresh cell, +1 with every swap. */
  version: number
  /** Below 2^53; above that of every earlier grant in the same cell. */
  fencingToken: number
  body: Buffer
}

/** A cell to be made where none stands, for so long from the store's clock. */
export type CellInsert = { id: string; body: Buffer; lastsMs: number }

/** What to write over the cell that was read, until `expiresAt` (ms) by the store's clock. */
export type CellSwap = {
  id: string
  /** What has to stand. Both, as the same version may stand again once a cell was forgotten. */
  expected: Pick<Cell, 'version' | 'fencingToken'>
  /** Whether a new fencing number is drawn; else the one that stands is kept. */
  grants: boolean
  body: Buffer
  expiresAt: number
}

/**
 * What a window needs of a store. Ids are 32 hex digits. Each item is atomic by itself, and items answer in order; no id
 * stands twice in one call of `insert` or `swap`. A cell that is over is as absent. `now` is the store's clock in ms, and
 * a fencing number the larger of the one before it + 1 and that clock in µs, made in the same atomic step.
 *
 * Every method throws `StoreError` where the store can't be asked or refuses; what was to be written is then unknown.
 */
export type CellPort = {
  /** `cell` is what stands then; where it was inserted, `now` is its fencing number in whole ms. */
  insert(items: readonly CellInsert[]): Promise<{ inserted: boolean; cell: Cell; now: number }[]>
  /** Null where nothing stands. Ids may repeat. */
  read(ids: readonly string[]): Promise<({ cell: Cell; now: number } | null)[]>
  /** Null where something else stands, or nothing. */
  swap(items: readonly CellSwap[]): Promise<({ fencingToken: number } | null)[]>
}
