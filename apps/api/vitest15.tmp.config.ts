import { defineConfig } from 'vitest/config'
const conditions = ['ranbook-source', 'module', 'node', 'development|production']
export default defineConfig({ resolve: { conditions }, ssr: { resolve: { conditions } }, test: { root: '/work/main/apps/api', include: ['test/**/*.test.ts'], globalSetup: '/tmp/pgwork/gs15.ts', maxWorkers: 2, testTimeout: 30000, hookTimeout: 60000 } })
