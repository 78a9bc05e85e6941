import type { LedgerRecord } from '@ranbook/rules'

/** Two different identities share one 128-bit digest. Never answered as a duplicate: a 500 with an alarm. */
export class IdentityCollision extends Error {
  override readonly name = 'IdentityCollision'
  readonly code = 'identity_collision'

  /** Throws where the record that stands is not the one asked for. */
  static refuse(
    record: Pick<LedgerRecord, 'digest' | 'class' | 'consumer' | 'key'>,
    asked: { class: string; consumer: string; key: string },
  ): void {
    if (record.key === asked.key && record.class === asked.class && record.consumer === asked.consumer) return
    throw new IdentityCollision(`record ${record.digest} stands for another identity than the one asked for`)
  }
}
