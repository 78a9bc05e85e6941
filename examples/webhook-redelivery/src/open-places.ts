import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import type { Settings } from './settings.ts'

/** Where the example's parts are, and how to leave them. */
export type Places = Omit<Settings, 'freshKeys'> & { close(): Promise<void> }

const serverFile = fileURLToPath(new URL('../../../apps/api/dist/main.js', import.meta.url))

/**
 * Starts a Ranbook of the example's own in a temporary folder, and makes a database for the effects beside Ranbook's:
 * its PostgreSQL is at hand and lets the user in who starts the example. A consumer has its database elsewhere.
 */
export async function openPlaces(env: NodeJS.ProcessEnv): Promise<Places> {
  const folder = mkdtempSync(join(tmpdir(), 'ranbook-example-'))
  chmodSync(folder, 0o755) // as root the database runs as another user, who has to pass through
  const dataDir = join(folder, 'data')
  const ranbookKey = randomBytes(24).toString('hex')
  const service = spawn(process.execPath, [serverFile], {
    env: {
      ...env,
      HOST: '127.0.0.1',
      PORT: '0',
      RANBOOK_DATA_DIR: dataDir,
      RANBOOK_ADMIN_KEY: ranbookKey,
      RANBOOK_EXIT_WITH_STDIN: '1', // it ends with this process, however this one ends
      DATABASE_URL: '',
      LOG_LEVEL: 'error',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const close = async () => {
    if (service.exitCode === null) {
      const ended = once(service, 'exit')
      service.kill('SIGTERM')
      await ended
    }
    rmSync(folder, { recursive: true })
  }
  try {
    const ranbookUrl = await addressOf(service)
    const place = { host: realpathSync(join(dataDir, 'sock')), port: 5432, username: 'ranbook' }
    const effects = { ...place, database: 'effects' }
    await makeTables(place, effects)
    return { ranbookUrl, ranbookKey, effects, receiverPort: await findFreePort(), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The address in the banner, which stands there once the service is ready. */
async function addressOf(service: ChildProcess): Promise<string> {
  let said = ''
  for await (const text of service.stdout ?? []) {
    said += text
    const address = /is ready at (\S+)\n/.exec(said)?.[1]
    if (address !== undefined) {
      service.stdout?.resume()
      return address
    }
  }
  throw new Error('the service ended at its start; see above')
}

async function makeTables(own: Omit<Settings['effects'], 'database'>, effects: Settings['effects']): Promise<void> {
  const server = postgres({ ...own, database: 'postgres', max: 1 })
  await server`create database ${server(effects.database)}`
  await server.end()
  const sql = postgres({ ...effects, max: 1 })
  await sql`create table effect (idempotency_key text primary key, event text not null, delivery text not null)`
  await sql`create table effect_call (delivery text not null)`
  await sql.end()
}

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
