import { createRanbook } from '@ranbook/sdk'
import { useMemo, useState } from 'react'
import { keepCredential, readCredential } from './api/credential.ts'
import { Home } from './routes/home/home.tsx'
import { ServiceBar } from './routes/home/service-bar.tsx'
import { SignIn } from './routes/home/sign-in.tsx'

/** The page: how the service is for everybody, what it knows for those with a key. */
export function App() {
  const [key, setKey] = useState(readCredential)
  // No retries here: a refused or lost request is shown at once, and every query comes again by itself.
  const ranbook = useMemo(() => (key === null ? null : createRanbook({ url: location.origin, apiKey: key, retries: 0 })), [key])
  const use = (next: string | null) => {
    keepCredential(next)
    setKey(next)
  }
  return (
    <>
      <ServiceBar signOut={key === null ? null : () => use(null)} />
      <main>{ranbook === null ? <SignIn onKey={use} /> : <Home ranbook={ranbook} onKeyRefused={() => use(null)} />}</main>
    </>
  )
}
