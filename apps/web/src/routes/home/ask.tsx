import type { Ranbook } from '@ranbook/sdk'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { goToQuestion, useQuestion } from '../../address/use-question.ts'
import { lookup } from '../../api/lookup.ts'
import { Trouble } from '../../components/trouble.tsx'
import { Answer } from './answer.tsx'

/** "Did this ever run?" */
export function Ask({ ranbook }: { ranbook: Ranbook }) {
  const question = useQuestion()
  const { data, error, refetch } = useQuery(lookup(ranbook, question))
  const field = useSlashKey()
  const [draft, setDraft] = useState(question)
  const [shownFor, setShownFor] = useState(question)
  if (shownFor !== question) {
    // Another question came through the address: the field shows it.
    setShownFor(question)
    setDraft(question)
  }
  const ask = (event: FormEvent) => {
    event.preventDefault()
    if (draft === question) void refetch()
    else goToQuestion(draft)
  }
  return (
    <section className="ask" aria-labelledby="ask-title">
      <h1 id="ask-title">Did this ever run?</h1>
      <search>
        <form onSubmit={ask}>
          <input
            ref={field}
            aria-label="Key, record id, reference or idempotency key"
            aria-keyshortcuts="/"
            placeholder="A key, a record id, an order number, an idempotency key, source#seq"
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
          />
          <button type="submit">Ask</button>
        </form>
      </search>
      {question === '' ? null : error !== null && data === undefined ? (
        <Trouble error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <p className="skeleton" role="status" aria-label="Looking it up" />
      ) : (
        <Answer question={question} answer={data} />
      )}
    </section>
  )
}

/** `/` goes to the field, wherever nothing is being typed. */
function useSlashKey() {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null
      if (event.key !== '/' || typing || event.metaKey || event.ctrlKey || event.altKey) return
      event.preventDefault()
      field.current?.select()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
  return field
}
