import { type Ranbook, RanbookError } from '@ranbook/sdk'
import { useQuery } from '@tanstack/react-query'
import { lastRecords } from '../../api/last-records.ts'
import { Trouble } from '../../components/trouble.tsx'
import { Ask } from './ask.tsx'
import { FirstClaim } from './first-claim.tsx'
import { RecordTable } from './record-table.tsx'
import { Stores } from './stores.tsx'

/** Ask, stores, and the last records. */
export function Home({ ranbook, onKeyRefused }: { ranbook: Ranbook; onKeyRefused: () => void }) {
  const records = useQuery(lastRecords(ranbook))
  const refused = records.error instanceof RanbookError && records.error.status === 401
  if (refused) {
    return (
      <section className="card narrow">
        <h1>This key is not accepted</h1>
        <p className="muted">It does not exist, has expired or was revoked. Ask an admin for another one.</p>
        <button type="button" onClick={onKeyRefused}>
          Use another key
        </button>
      </section>
    )
  }
  return (
    <>
      <Ask ranbook={ranbook} />
      <div className="columns">
        <section className="card" aria-labelledby="records-title">
          <h2 id="records-title">Last records</h2>
          {records.data ? (
            records.data.data.length === 0 ? (
              <FirstClaim />
            ) : (
              <RecordTable records={records.data.data} />
            )
          ) : records.error ? (
            <Trouble error={records.error} retry={() => void records.refetch()} />
          ) : (
            <p className="skeleton" role="status" aria-label="Loading records" />
          )}
        </section>
        <Stores />
      </div>
    </>
  )
}
