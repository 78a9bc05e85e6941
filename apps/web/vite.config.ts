import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** In development the API runs on its default port; in production it serves what this builds. */
const api = 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [react()],
  // Relative addresses, so that a proxy may serve the page below another path.
  base: './',
  resolve: { conditions: ['ranbook-source', 'module', 'browser', 'development|production'] },
  // The page's policy forbids data: addresses, so nothing may be inlined.
  build: { assetsInlineLimit: 0, target: 'es2022', modulePreload: { polyfill: false } },
  server: { proxy: { '/v1': api, '/healthz': api, '/readyz': api, '/docs': api, '/openapi.json': api } },
})
