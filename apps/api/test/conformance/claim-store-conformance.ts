import { afterAll, beforeAll, describe } from 'vitest'
import { completeClaimed } from './complete-claimed.ts'
import { insertAndRead } from './insert-and-read.ts'
import { racingClaims } from './racing-claims.ts'
import { stateTable } from './state-table.ts'
import type { OpenedStore } from './store-under-test.ts'

/** What a store promises that keeps claims and nothing beside them: every window passes it. */
export function claimStoreConformance(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    let opened: OpenedStore
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened.close())

    const underTest = () => opened
    insertAndRead(underTest)
    completeClaimed(underTest)
    racingClaims(underTest)
    stateTable(underTest)
  })
}
