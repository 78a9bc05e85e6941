import { useQuery } from '@tanstack/react-query'
import { serviceStatus } from '../../api/service-status.ts'
import { Status } from '../../components/status.tsx'

/** The stores behind the service and what each says of itself. */
export function Stores() {
  const { data } = useQuery(serviceStatus)
  return (
    <aside className="card" aria-labelledby="stores-title">
      <h2 id="stores-title">Stores</h2>
      {data === undefined ? (
        <p className="skeleton short" role="status" aria-label="Loading stores" />
      ) : (
        <dl className="stores">
          {Object.entries(data.stores).map(([name, store]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <Status tone={store.ok ? 'good' : 'bad'}>{store.ok ? 'answers' : 'does not answer'}</Status>
                {store.note === null ? null : <span className="muted small">{store.note}</span>}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </aside>
  )
}
