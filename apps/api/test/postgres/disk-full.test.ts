import { defaultPolicy } from '@ranbook/rules'
import { expect, onTestFinished, test } from 'vitest'
import { claim } from '../../src/ledger/claim.ts'
import { ItemFailure } from '../../src/ledger/item-failure.ts'
import { ledgerOn } from '../conformance/ledger-on.ts'
import { claimRequest } from '../conformance/new-record.ts'
import { migratedDatabase } from './migrated-database.ts'

const opened = migratedDatabase()

/** From now on no row fits into the table of records. */
async function fillDisk(): Promise<void> {
  const { sql } = opened()
  await sql.unsafe(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$`)
  await sql.unsafe('CREATE TRIGGER full_disk BEFORE INSERT ON record FOR EACH ROW EXECUTE FUNCTION refuse()')
  onTestFinished(async () => void (await sql.unsafe('DROP FUNCTION refuse CASCADE')))
}

const outcomeOf = (answer: Awaited<ReturnType<typeof claim>>[number] | undefined): unknown =>
  answer instanceof ItemFailure ? (answer.reason as NodeJS.ErrnoException).code : answer?.outcome

test('on a full disk claims of records that stand are answered, in a batch and gathered with new ones', async () => {
  const ledger = ledgerOn(opened().postgres.records, () => defaultPolicy)
  const [known, repeated] = [claimRequest(), claimRequest()]
  await claim(ledger, [known, repeated])
  await opened().postgres.records.completeClaimed([{ ...known, consumer: null, result: null }])
  await fillDisk()

  const again = { ...known, claimToken: claimRequest().claimToken }
  const batch = await claim(ledger, [again, claimRequest(), repeated])
  expect(batch.map(outcomeOf)).toEqual(['duplicate', 'storage_full', 'claimed'])

  const gathered = await Promise.all(
    [claimRequest(), again, claimRequest(), repeated].map((one) => claim(ledger, [one])),
  )
  expect(gathered.map(([answer]) => outcomeOf(answer))).toEqual([
    'storage_full',
    'duplicate',
    'storage_full',
    'claimed',
  ])
})
