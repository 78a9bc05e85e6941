import type { RecordRow } from '@ranbook/contract'
import { ExactText } from '../../components/exact-text.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { Time } from '../../components/time.tsx'
import { useNow } from '../../components/use-now.ts'
import { QuestionLink } from './question-link.tsx'
import { recordDetail } from './record-detail.ts'

/** Records, newest first. A key leads to its answer. */
export function RecordTable({ records }: { records: readonly RecordRow[] }) {
  const now = useNow()
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Key</th>
          <th scope="col">Class and consumer</th>
          <th scope="col" className="number">
            Attempt
          </th>
          <th scope="col" className="number">
            Duplicates
          </th>
          <th scope="col" className="number">
            First claimed
          </th>
        </tr>
      </thead>
      <tbody>
        {records.map((record) => (
          <tr key={record.id}>
            <td className="state">
              <StateMark state={record.state === 'claimed' && record.lease_over ? 'interrupted' : record.state} />
              <span className="muted">{recordDetail(record, now)}</span>
            </td>
            <td className="key">
              <QuestionLink question={record.key}>
                <ExactText text={record.key} />
              </QuestionLink>
              {record.error === null ? null : (
                <span className="muted">
                  <ExactText text={record.error.message} />
                </span>
              )}
            </td>
            <td className="class">
              <ExactText text={record.class} />
              <span className="muted">
                <ExactText text={record.consumer} />
              </span>
            </td>
            <td className="number attempt" data-label="attempt">
              <Count value={record.attempt} usual={1} />
            </td>
            <td className="number duplicates" data-label="duplicates">
              <Count value={record.duplicates?.count ?? 0} usual={0} />
            </td>
            <td className="number age">
              <Time at={record.first_claimed_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A number that stands out where it isn't the usual one. */
function Count({ value, usual }: { value: number; usual: number }) {
  return <span className={value === usual ? 'muted' : 'unusual'}>{value.toLocaleString()}</span>
}
