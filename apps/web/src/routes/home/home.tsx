import { type Ranbook, RanbookError } from '@ranbook/sdk'
import { useQuery } from '@tanstack/react-query'
import { whoAmI } from '../../api/who-am-i.ts'
import { Ask } from './ask.tsx'
import { LastRecords } from './last-records.tsx'

/** Ask, and the last records; or why the key opens neither. */
export function Home({ ranbook, signOut }: { ranbook: Ranbook; signOut: () => void }) {
  const me = useQuery(whoAmI(ranbook))
  if (me.error instanceof RanbookError && me.error.status === 401) {
    return (
      <section className="card narrow" aria-labelledby="refused-title">
        <h1 id="refused-title">This key is not accepted</h1>
        <p className="muted">It does not exist, has expired or was revoked. An admin can make another one.</p>
        <button type="button" onClick={signOut}>
          Use another key
        </button>
      </section>
    )
  }
  const mayRead = me.data?.actions.includes('read') ?? true
  return (
    <>
      <Ask ranbook={ranbook} />
      {mayRead ? (
        <LastRecords ranbook={ranbook} />
      ) : (
        <p className="muted">This key may ask about its own records. To list records it needs the action read.</p>
      )}
    </>
  )
}
