import { appendFile, chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** From its next start on the database of the folder recovers and recovers, as one with a very long log seems to. */
export async function recoverEndlessly(dataDir: string): Promise<void> {
  const cluster = join(dataDir, 'postgres')
  const { uid, gid } = await stat(cluster)
  const standby = join(cluster, 'standby.signal')
  await writeFile(standby, '')
  await chown(standby, uid, gid)
  await appendFile(join(cluster, 'postgresql.auto.conf'), 'hot_standby = off\n')
}
