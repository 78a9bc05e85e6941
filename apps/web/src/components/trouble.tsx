import { RanbookError } from '@ranbook/sdk'

/** What failed, and a way to try again. */
export function Trouble({ error, retry }: { error: Error; retry: () => void }) {
  const requestId = error instanceof RanbookError ? error.problem?.request_id : undefined
  return (
    <div className="trouble" role="alert">
      <p>
        {error.message}
        {requestId === undefined ? null : (
          <>
            {' '}
            <span className="muted">Request {requestId}.</span>
          </>
        )}
      </p>
      <button type="button" className="quiet" onClick={retry}>
        Try again
      </button>
    </div>
  )
}
