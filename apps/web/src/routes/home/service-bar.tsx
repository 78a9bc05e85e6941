import { useQuery } from '@tanstack/react-query'
import { serviceStatus } from '../../api/service-status.ts'
import { Status } from '../../components/status.tsx'

/** Name, version and health of the service; says so when it can't be reached. */
export function ServiceBar({ signOut }: { signOut: (() => void) | null }) {
  const { data, error, isPending } = useQuery(serviceStatus)
  const lost = error !== null
  return (
    <>
      <header className="bar">
        <a className="brand" href="/">
          Ranbook
        </a>
        <span className="muted tagline">the book of what ran</span>
        <span className="grow" />
        {isPending ? (
          <span className="muted">asking …</span>
        ) : (
          <Status tone={lost ? 'bad' : data?.ready ? 'good' : 'warn'}>
            {lost ? 'unreachable' : data?.ready ? 'ready' : 'not ready'}
          </Status>
        )}
        {data ? <span className="muted version">v{data.version}</span> : null}
        <a href="/docs/">API docs</a>
        {signOut === null ? null : (
          <button type="button" className="quiet" onClick={signOut}>
            Sign out
          </button>
        )}
      </header>
      {lost ? (
        <p className="banner" role="alert">
          The service can not be reached. What you see below is the last that was known; it is asked again every few seconds.
        </p>
      ) : null}
    </>
  )
}
