// `npm run dev`: the server from its sources, restarted at each change, and the page with hot reload beside it.
import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { ensureInstalled } from './ensure-installed.mjs'
import { root } from './root.mjs'

ensureInstalled()

const both = spawn(
  process.execPath,
  [
    join(root, 'node_modules/concurrently/dist/bin/concurrently.js'),
    '--kill-others',
    '--names=api,web',
    'tsx watch --clear-screen=false apps/api/src/main.ts',
    'vite apps/web',
  ],
  {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [join(root, 'node_modules/.bin'), join(root, 'apps/web/node_modules/.bin'), process.env.PATH].join(
        delimiter,
      ),
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --conditions=ranbook-source`.trim(),
    },
  },
)
both.on('exit', (code) => process.exit(code ?? 1))
