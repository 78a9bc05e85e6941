import { type FormEvent, useState } from 'react'
import { isCredential } from '../../api/credential.ts'

/** Asks for an API key. The link printed at the first start brings one by itself. */
export function SignIn({ onKey }: { onKey: (key: string) => void }) {
  const [draft, setDraft] = useState('')
  const key = draft.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (isCredential(key)) onKey(key)
  }
  return (
    <section className="card narrow" aria-labelledby="sign-in-title">
      <h1 id="sign-in-title">Sign in with an API key</h1>
      <p className="muted">
        The link printed at the first start signs you in. Otherwise paste a key with the action <code>read</code>: it
        stays in this tab and is forgotten when you close it.
      </p>
      <form onSubmit={submit}>
        <input
          aria-label="API key"
          placeholder="rbk_…"
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
        />
        <button type="submit" disabled={!isCredential(key)}>
          Sign in
        </button>
      </form>
    </section>
  )
}
