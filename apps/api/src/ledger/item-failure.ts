/**
 * Stands in an answer's place where the answer could not be had: what became of that item is unknown, and it is safe to
 * repeat as it was. The answers beside it are durable.
 */
export class ItemFailure {
  /** What was thrown. */
  readonly reason: unknown

  constructor(reason: unknown) {
    this.reason = reason
  }
}

/** The answer of a call with one item. Throws what its failure was. */
export function onlyAnswer<Answer>(answers: readonly (Answer | ItemFailure)[]): Answer {
  const [answer] = answers
  if (answer instanceof ItemFailure) throw answer.reason
  return answer as Answer
}

/**
 * What a store call for `items` answers, one each in order. Where it throws, that becomes the answer of them all, and
 * nothing is returned.
 */
export async function askFor<Item extends { at: number }, Found>(
  items: readonly Item[],
  answers: unknown[],
  ask: (items: readonly Item[]) => Promise<readonly Found[]>,
): Promise<(readonly [Item, Found])[]> {
  if (items.length === 0) return []
  try {
    const found = await ask(items)
    return items.map((item, index) => [item, found[index] as Found] as const)
  } catch (error) {
    for (const { at } of items) answers[at] = new ItemFailure(error)
    return []
  }
}
