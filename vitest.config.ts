import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// The workspace's packages are tested as their sources stand; the rest is Vite's own list.
const conditions = ['ranbook-source', 'module', 'node', 'development|production']

// Everything of the API but the fault tests, which kill and load servers and so run last.
const faultTests = 'test/faults/**/*.test.ts'

const throwawayPostgres = fileURLToPath(new URL('apps/api/test/global-setup.ts', import.meta.url))

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Tests that start servers spend their time waiting for them: two files at once is what two cores carry.
    maxWorkers: 2,
    // A busy machine makes a test slow, never wrong: these only end what hangs.
    testTimeout: 30_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
    projects: [
      project('packages/contract'),
      project('packages/rules'),
      project('packages/sdk'),
      {
        extends: true,
        test: {
          name: 'web',
          root: 'apps/web',
          include: ['test/**/*.test.ts'],
          // A browser, the service and its database share two cores with another file's.
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'api',
          root: 'apps/api',
          include: ['test/**/*.test.ts'],
          exclude: [faultTests],
          globalSetup: throwawayPostgres,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          root: 'apps/api',
          include: [faultTests],
          globalSetup: throwawayPostgres,
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'examples',
          root: 'examples',
          include: ['**/test/**/*.test.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'docs',
          root: 'docs',
          include: ['test/**/*.test.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
        },
      },
    ],
  },
})

function project(root: string) {
  return {
    extends: true as const,
    test: { name: root.slice(root.indexOf('/') + 1), root, include: ['test/**/*.test.{ts,tsx}'] },
  }
}
