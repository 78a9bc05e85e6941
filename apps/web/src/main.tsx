import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import './style/base.css'
import './style/marks.css'
import './style/controls.css'
import './style/bar.css'
import './style/answer.css'
import './style/records.css'

const root = document.getElementById('root')
if (root === null) throw new Error('index.html has no #root')

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // What failed is shown at once; every query that matters comes again by itself.
      retry: false,
      // A service on this machine answers without any network.
      networkMode: 'always',
    },
  },
})

createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
)
