import type { Ranbook } from '@ranbook/sdk'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { lookup } from '../../api/lookup.ts'
import { StateMark } from '../../components/state-mark.tsx'
import { Time } from '../../components/time.tsx'
import { Trouble } from '../../components/trouble.tsx'

const parameter = 'q'

/** "Did this ever run?": the question stands in the address, so that a link shows the same. */
export function Ask({ ranbook }: { ranbook: Ranbook }) {
  const [question, setQuestion] = useState(() => new URLSearchParams(location.search).get(parameter) ?? '')
  const [draft, setDraft] = useState(question)
  const answer = useQuery(lookup(ranbook, question))
  const ask = (event: FormEvent) => {
    event.preventDefault()
    const search = draft === '' ? '' : `?${new URLSearchParams({ [parameter]: draft })}`
    history.replaceState(null, '', location.pathname + search)
    if (draft === question) void answer.refetch()
    else setQuestion(draft)
  }
  return (
    <section className="ask" aria-labelledby="ask-title">
      <h1 id="ask-title">Did this ever run?</h1>
      <form onSubmit={ask} role="search">
        <input
          aria-label="Key, record id, reference or idempotency key"
          placeholder="Paste a key, a record id, an order number, an idempotency key …"
          spellCheck={false}
          autoComplete="off"
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <button type="submit">Ask</button>
      </form>
      {question === '' ? null : answer.data ? (
        <div className="answer" role="status">
          <p className="sentence">
            <StateMark state={answer.data.verdict} /> {answer.data.sentence}
          </p>
          <ul>
            {answer.data.records.map((record) => (
              <li key={record.id}>
                <StateMark state={record.verdict} />
                <span>
                  <bdi className="key">{record.key}</bdi>
                  <span className="muted">
                    <bdi>{record.class}</bdi> by <bdi>{record.consumer}</bdi>
                  </span>
                  <span>{record.sentence}</span>
                </span>
              </li>
            ))}
          </ul>
          <p className="muted small">
            Asked <Time at={answer.data.checked_at} />
            {answer.data.coverage.map((part) => (
              <span key={`${part.class} ${part.store}`}>
                {' · '}
                {part.store} of {part.class} complete since <Time at={part.complete_since} />
                {part.note === null ? '' : ` (${part.note})`}
              </span>
            ))}
          </p>
        </div>
      ) : answer.error ? (
        <Trouble error={answer.error} retry={() => void answer.refetch()} />
      ) : (
        <p className="skeleton short" role="status" aria-label="Looking it up" />
      )}
    </section>
  )
}
