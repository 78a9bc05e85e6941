import type { RecordRow } from '@ranbook/contract'
import { StateMark } from '../../components/state-mark.tsx'
import { Time } from '../../components/time.tsx'

/** Records, newest first. Keys and names are shown as text and isolated, so that no mark in them can turn the line. */
export function RecordTable({ records }: { records: readonly RecordRow[] }) {
  return (
    // A focusable region, so that keyboards can scroll what does not fit.
    <section className="scroll" aria-label="Last records" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Key</th>
            <th scope="col">Class</th>
            <th scope="col">Consumer</th>
            <th scope="col" className="number">
              Attempt
            </th>
            <th scope="col">First claimed</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => (
            <tr key={record.id}>
              <td>
                <StateMark state={record.lease_over && record.state === 'claimed' ? 'interrupted' : record.state} />
              </td>
              <td className="key" title={record.key}>
                <bdi>{record.key}</bdi>
              </td>
              <td>
                <bdi>{record.class}</bdi>
              </td>
              <td>
                <bdi>{record.consumer}</bdi>
              </td>
              <td className="number">{record.attempt}</td>
              <td>
                <Time at={record.first_claimed_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
