import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const serverFile = fileURLToPath(new URL('../../../apps/api/dist/main.js', import.meta.url))
/** Debian's and macOS' own folders: a test finds the same programs whoever starts it. */
const systemPath = '/usr/local/bin:/usr/bin:/bin'

/** A real service with a data folder of its own, for the tests of its clients. */
export type Service = {
  readonly url: string
  /** An admin key with every action. */
  readonly key: string
  /** Ends it and keeps its data. */
  stop(): Promise<void>
  /** Starts it again after `stop`: same port, same data. */
  start(): Promise<void>
  /** Ends it, and removes its data where they lie in a folder of its own. */
  remove(): Promise<void>
}

/**
 * Starts the built server, as `npm start` does, on a free port with an embedded database. It ends with this process,
 * however that ends. With `dataDir` the data lie there, and the server makes the admin key itself. Rejects with what it
 * said where it can't start.
 */
export async function startService({ dataDir }: { dataDir?: string } = {}): Promise<Service> {
  const folder = dataDir === undefined ? await passableFolder() : null
  const data = dataDir ?? join(folder ?? '', 'data')
  const ownKey = dataDir === undefined ? randomBytes(24).toString('hex') : ''
  let port = '0'
  let server: ChildProcess | undefined

  const start = async (): Promise<string> => {
    const child = spawn(process.execPath, [serverFile], {
      env: {
        PATH: systemPath,
        PORT: port,
        RANBOOK_DATA_DIR: data,
        RANBOOK_ADMIN_KEY: ownKey,
        RANBOOK_EXIT_WITH_STDIN: '1',
        LOG_LEVEL: 'warn',
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    server = child
    return addressOf(child)
  }
  const stop = async (): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill('SIGTERM')
    await ended
  }

  const url = await start()
  port = new URL(url).port
  return {
    url,
    key: ownKey || (await readFile(join(data, 'admin-key'), 'utf8')).trim(),
    stop,
    start: async () => void (await start()),
    remove: async () => {
      await stop()
      if (folder !== null) await rm(folder, { recursive: true })
    },
  }
}

/** An empty temporary folder that every user may pass through: as root the database runs as another one. */
export async function passableFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ranbook-client-test-'))
  await chmod(folder, 0o755)
  return folder
}

/** The address in the banner, which stands there once the service is ready. */
async function addressOf(child: ChildProcess): Promise<string> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  }
  const ended = once(child, 'exit').then(() => {
    throw new Error(`The service ended at its start: ${said}`)
  })
  const ready = new Promise<string>((resolve) => {
    child.stdout?.on('data', () => {
      const address = /is ready at (\S+)\n/.exec(said)?.[1]
      if (address !== undefined) resolve(address)
    })
  })
  return Promise.race([ready, ended])
}
