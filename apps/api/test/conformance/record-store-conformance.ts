import { afterAll, beforeAll, describe } from 'vitest'
import { compareAndSet } from './compare-and-set.ts'
import { completeClaimed } from './complete-claimed.ts'
import { exactText } from './exact-text.ts'
import { insertAndRead } from './insert-and-read.ts'
import { keepingCount } from './keeping-count.ts'
import { racingClaims } from './racing-claims.ts'
import { searching } from './searching.ts'
import { stateTable } from './state-table.ts'
import type { OpenedStore } from './store-under-test.ts'

/** Everything a record store promises. Every store passes it; `open` is called once and starts from an empty store. */
export function recordStoreConformance(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    let opened: OpenedStore
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.close())

    const underTest = () => opened
    insertAndRead(underTest)
    compareAndSet(underTest)
    completeClaimed(underTest)
    exactText(underTest)
    searching(underTest)
    keepingCount(underTest)
    racingClaims(underTest)
    stateTable(underTest)
  })
}
