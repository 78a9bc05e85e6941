import type { Ranbook } from '@ranbook/sdk'
import { useQuery } from '@tanstack/react-query'
import { serviceUrl } from '../../address/service-url.ts'
import { serviceStatus } from '../../api/service-status.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { Mark } from '../../components/mark.tsx'
import { Time } from '../../components/time.tsx'

/** The service, its stores, and whose key is in use; a banner while the service can't be reached. */
export function ServiceBar({ ranbook, signOut }: { ranbook: Ranbook | null; signOut: () => void }) {
  const { data, isError, dataUpdatedAt } = useQuery(serviceStatus)
  const me = useQuery(whoAmI(ranbook))
  return (
    <header>
      <div className="bar">
        <a className="brand" href={`${serviceUrl}/`}>
          Ranbook
        </a>
        <dl className="service" aria-label="Service">
          <div>
            <dt>service</dt>
            <dd>
              {isError ? (
                <Mark shape="cross" tone="bad">
                  unreachable
                </Mark>
              ) : data === undefined ? (
                <span className="muted">asking …</span>
              ) : data.ready ? (
                <Mark shape="check" tone="good">
                  ready
                </Mark>
              ) : (
                <Mark shape="warning" tone="warn">
                  not ready
                </Mark>
              )}
              {data === undefined ? null : <span className="muted">{data.version}</span>}
            </dd>
          </div>
          {Object.entries(data?.stores ?? {}).map(([name, { ok, note }]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                {isError ? (
                  <Mark shape="question" tone="plain">
                    not known
                  </Mark>
                ) : ok ? (
                  <Mark shape="check" tone="good">
                    answers
                  </Mark>
                ) : (
                  <Mark shape="cross" tone="bad">
                    not usable
                  </Mark>
                )}
                {note === null || isError ? null : <span className="muted">{note}</span>}
              </dd>
            </div>
          ))}
        </dl>
        <nav aria-label="Service pages">
          <a href={`${serviceUrl}/docs`}>API docs</a>
          {ranbook === null ? null : (
            <>
              {me.data ? <span className="muted who">{me.data.name}</span> : null}
              <button type="button" className="quiet" onClick={signOut}>
                Sign out
              </button>
            </>
          )}
        </nav>
      </div>
      {isError ? (
        <p className="banner" role="alert">
          The service can't be reached. It is asked again every few seconds
          {dataUpdatedAt === 0 ? (
            '.'
          ) : (
            <>
              ; it last answered <Time at={new Date(dataUpdatedAt).toISOString()} />.
            </>
          )}
        </p>
      ) : null}
    </header>
  )
}
