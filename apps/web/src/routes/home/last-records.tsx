import type { Ranbook } from '@ranbook/sdk'
import { useQuery } from '@tanstack/react-query'
import { lastRecords } from '../../api/last-records.ts'
import { Mark } from '../../components/mark.tsx'
import { Time } from '../../components/time.tsx'
import { Trouble } from '../../components/trouble.tsx'
import { FirstClaim } from './first-claim.tsx'
import { RecordTable } from './record-table.tsx'

/** The newest records, refreshed by themselves; when that fails the last ones stay, with their age. */
export function LastRecords({ ranbook }: { ranbook: Ranbook }) {
  const { data, error, dataUpdatedAt, refetch } = useQuery(lastRecords(ranbook))
  return (
    <section className="card" aria-labelledby="records-title">
      <div className="title">
        <h2 id="records-title">Last records</h2>
        {data === undefined ? null : (
          <span className="muted">
            {error === null ? null : (
              <Mark shape="warning" tone="warn">
                not refreshed,
              </Mark>
            )}{' '}
            as of <Time at={new Date(dataUpdatedAt).toISOString()} />
          </span>
        )}
      </div>
      {data !== undefined ? (
        data.data.length === 0 ? (
          <FirstClaim />
        ) : (
          <RecordTable records={data.data} />
        )
      ) : error !== null ? (
        <Trouble error={error} retry={() => void refetch()} />
      ) : (
        <p className="skeleton tall" role="status" aria-label="Loading records" />
      )}
    </section>
  )
}
