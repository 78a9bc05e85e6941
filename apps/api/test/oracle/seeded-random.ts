/** Numbers in [0, 1) that one seed always brings in the same order, with what histories draw from them. */
export type SeededRandom = {
  next(): number
  /** A whole number from 0 to below `count`. */
  below(count: number): number
  pick<T>(choices: readonly T[]): T
  /** True in that share of cases. */
  chance(share: number): boolean
}

/** mulberry32: 32 bits of state, which is plenty to vary some thousand operations. */
export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const below = (count: number): number => Math.floor(next() * count)
  return {
    next,
    below,
    pick: (choices) => {
      const choice = choices[below(choices.length)]
      if (choice === undefined) throw new Error('nothing to pick from')
      return choice
    },
    chance: (share) => next() < share,
  }
}

/** The seed of this run: `RANBOOK_HISTORY_SEED`, else one that the clock gives. */
export function historySeed(): number {
  const given = process.env['RANBOOK_HISTORY_SEED']
  return given === undefined ? Date.now() % 0x1_0000_0000 : Number(given)
}

/** How a failing history is run again, in one line. */
export function rerunLine(seed: number, file: string): string {
  return `run it again with: RANBOOK_HISTORY_SEED=${seed} npx vitest run --project api ${file}`
}
