import { setTimeout as delay } from 'node:timers/promises'
import { type EmbeddedPostgres, openEmbedded } from '../stores/postgres/open-embedded.ts'
import { backoffMs } from './backoff.ts'
import type { Log } from './log.ts'

export type KeptDatabase = Pick<EmbeddedPostgres, 'connection' | 'stop'>

/**
 * `throughClosedParents`: the folder was not chosen but is the default beside the checkout, which may lie in a folder
 * only root enters; the database is then let through to its own folder.
 */
export type EmbeddedPlace = { dataDir: string; throughClosedParents: boolean }

/**
 * Opens the embedded database and brings it back whenever it goes away, for as long as it takes. Requests are answered
 * 503 meanwhile; the process never ends for it.
 *
 * @throws EmbeddedPostgresError when the first start fails.
 */
export async function keepEmbedded(place: EmbeddedPlace, log: Log): Promise<KeptDatabase> {
  const stopped = new AbortController()

  const bringBack = async (): Promise<void> => {
    for (let failures = 0; !stopped.signal.aborted; failures++) {
      try {
        await database.restart()
        return
      } catch (error) {
        if (stopped.signal.aborted) return
        const retryInMs = backoffMs(failures)
        log.error({ error, retry_in_ms: retryInMs }, 'The embedded database could not be started again')
        await delay(retryInMs, undefined, { signal: stopped.signal }).catch(() => undefined)
      }
    }
  }

  const database = await openEmbedded({
    ...place,
    log: launcherLog(log),
    // A crash may be reported before this call has returned; only then there is something to restart.
    onCrash: () => setImmediate(() => void bringBack()),
  })
  return {
    connection: database.connection,
    stop: async () => {
      stopped.abort()
      await database.stop()
    },
  }
}

/** The launcher names its fields as pino does. */
function launcherLog(log: Log): Parameters<typeof openEmbedded>[0]['log'] {
  const renamed = ({ err }: { err?: unknown }): Record<string, unknown> => (err === undefined ? {} : { error: err })
  return {
    info: (fields, message) => log.info(renamed(fields), message),
    warn: (fields, message) => log.warn(renamed(fields), message),
  }
}
