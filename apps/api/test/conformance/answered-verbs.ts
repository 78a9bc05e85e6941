import { type ClaimAnswer, claim as claimEach } from '../../src/ledger/claim.ts'
import { ItemFailure } from '../../src/ledger/item-failure.ts'
import { type SettleAnswer, settle as settleEach } from '../../src/ledger/settle.ts'

/** `claim` of the ledger where every item is answered. Throws what the first failure was. */
export async function claim(...asked: Parameters<typeof claimEach>): Promise<ClaimAnswer[]> {
  return (await claimEach(...asked)).map(answered)
}

/** `settle` of the ledger, likewise. */
export async function settle(...asked: Parameters<typeof settleEach>): Promise<SettleAnswer[]> {
  return (await settleEach(...asked)).map(answered)
}

function answered<Answer>(answer: Answer | ItemFailure): Answer {
  if (answer instanceof ItemFailure) throw answer.reason
  return answer
}
