import { type FormEvent, useState } from 'react'

/** Asks for an API key. The link printed at the first start brings one by itself. */
export function SignIn({ onKey }: { onKey: (key: string) => void }) {
  const [draft, setDraft] = useState('')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (draft.trim() !== '') onKey(draft.trim())
  }
  return (
    <section className="card narrow" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Sign in with an API key</h1>
      <p className="muted">
        The link printed at the first start signs you in. Otherwise paste a key with the action <code>read</code>; it stays in
        this tab and is forgotten when you close it.
      </p>
      <form onSubmit={submit}>
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <button type="submit" disabled={draft.trim() === ''}>
          Sign in
        </button>
      </form>
    </section>
  )
}
