import type { LookupRecordView } from '@ranbook/contract'
import type { ReactNode } from 'react'
import { ExactText } from '../../components/exact-text.tsx'
import { Time } from '../../components/time.tsx'

const matchText: Record<LookupRecordView['matched'], string> = {
  key: 'key',
  id: 'id',
  idempotency_key: 'idempotency key',
  reference: 'reference',
  source_seq: 'source and number',
}

/** What identifies a record, and its times. */
export function RecordFacts({ record }: { record: LookupRecordView }) {
  const { duplicates } = record
  return (
    <dl className="facts">
      <Fact name="key">
        <span className="key">
          <ExactText text={record.key} />
        </span>
      </Fact>
      <Fact name="class">
        <ExactText text={record.class} />
      </Fact>
      <Fact name="consumer">
        <ExactText text={record.consumer} />
      </Fact>
      <Fact name="attempt">{record.attempt}</Fact>
      <Fact name="first claimed">
        <Time at={record.first_claimed_at} />
      </Fact>
      {record.settled_at === null ? null : (
        <Fact name="settled">
          <Time at={record.settled_at} />
        </Fact>
      )}
      <Fact name="duplicates">
        {duplicates === null ? (
          0
        ) : (
          <>
            {duplicates.count.toLocaleString()}, last <Time at={duplicates.last_at} />
          </>
        )}
      </Fact>
      <Fact name="found by">{matchText[record.matched]}</Fact>
      <Fact name="id">
        <span className="key">{record.id}</span>
      </Fact>
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
