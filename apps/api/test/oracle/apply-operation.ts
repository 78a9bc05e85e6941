import { type LedgerRecord, noticeExpiry } from '@ranbook/rules'
import type { ClaimAnswer } from '../../src/ledger/claim.ts'
import type { LedgerDeps } from '../../src/ledger/ledger-deps.ts'
import type { ResolveAnswer } from '../../src/ledger/resolve.ts'
import type { SettleAnswer } from '../../src/ledger/settle.ts'
import { claim, resolve, settle } from '../conformance/answered-verbs.ts'
import type { Operation } from './random-operations.ts'

/** What the ledger said to an operation; null where it says nothing. */
export type OperationAnswer = ClaimAnswer | SettleAnswer | ResolveAnswer | { swept: (LedgerRecord | null)[] } | null

const everywhere = { classes: ['*'], consumer: null }

/** Asks one operation of a ledger, as its routes and jobs would. `wait` is not asked of the ledger. */
export async function applyOperation(
  deps: LedgerDeps,
  operation: Exclude<Operation, { do: 'wait' }>,
): Promise<OperationAnswer> {
  switch (operation.do) {
    case 'claim': {
      const [answer] = await claim(deps, [operation.request])
      return answer ?? null
    }
    case 'settle': {
      const [answer] = await settle(deps, everywhere, [operation])
      return answer ?? null
    }
    case 'resolve': {
      const { digest, command } = operation
      const [before, after] = [null, JSON.stringify(command.decision)]
      const audit = {
        actor: 'key:ops',
        action: 'record.resolve',
        target: digest,
        reason: 'drawn',
        before,
        after,
        requestId: null,
      }
      return resolve(deps, everywhere, digest, command, audit)
    }
    case 'sweep': {
      const found = await deps.store.findExpired(100)
      // Leases that end in the same ms come in any order.
      const inOrder = found.toSorted((a, b) => (a.record.digest < b.record.digest ? -1 : 1))
      const changes = inOrder.flatMap(({ record, now }) => noticeExpiry(record, now) ?? [])
      if (changes.length === 0) return { swept: [] }
      const written = await deps.store.compareAndSet(changes)
      return { swept: written.map((outcome) => outcome?.record ?? null) }
    }
    case 'tally': {
      const { digest, count } = operation
      await deps.store.addDuplicates([
        { digest, count, firstAt: 1_700_000_000_000 - count, lastAt: 1_700_000_000_000 + count },
      ])
      return null
    }
  }
}
