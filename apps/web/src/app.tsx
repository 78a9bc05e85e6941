import { createRanbook } from '@ranbook/sdk'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { serviceUrl } from './address/service-url.ts'
import { keepCredential, takeCredential } from './api/credential.ts'
import { Home } from './routes/home/home.tsx'
import { ServiceBar } from './routes/home/service-bar.tsx'
import { SignIn } from './routes/home/sign-in.tsx'

/** The page: how the service is for everybody, what it knows for those with a key. */
export function App() {
  const queries = useQueryClient()
  const [key, setKey] = useState(takeCredential)
  // A refused or lost request is shown at once: no retries here.
  const ranbook = useMemo(
    () => (key === null ? null : createRanbook({ url: serviceUrl, apiKey: key, retries: 0 })),
    [key],
  )

  function use(next: string | null) {
    keepCredential(next)
    // What one key has read is not for the next one.
    queries.clear()
    setKey(next)
  }

  useEffect(() => {
    // A sign-in link that is opened where the page stands already changes nothing but the fragment.
    const onHash = () => {
      queries.clear()
      setKey(takeCredential())
    }
    window.addEventListener('hashchange', onHash)
    return () => window.removeEventListener('hashchange', onHash)
  }, [queries])

  return (
    <>
      <ServiceBar ranbook={ranbook} signOut={() => use(null)} />
      <main>
        {ranbook === null ? <SignIn onKey={use} /> : <Home key={key} ranbook={ranbook} signOut={() => use(null)} />}
      </main>
    </>
  )
}
