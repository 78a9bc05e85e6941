import { randomUUID } from 'node:crypto'
import { link, open, readFile, unlink } from 'node:fs/promises'
import { StartRefused } from './start-refused.ts'

/**
 * The admin key kept in `file`; `newKey` is written there, readable by this user only, where there is none yet.
 * Of two starts at once one makes it and both get the same.
 *
 * @throws StartRefused when the file can't be read or written, or holds something else than a key.
 */
export async function adminKeyFile(file: string, newKey: string): Promise<{ key: string; made: boolean }> {
  try {
    const key = (await readKey(file)) ?? (await writeKey(file, newKey))
    return { key, made: key === newKey }
  } catch (cause) {
    if (cause instanceof StartRefused) throw cause
    throw new StartRefused(
      `The admin key can't be kept in ${file}: ${String(cause)}. Give the folder to the user that starts Ranbook, or set RANBOOK_ADMIN_KEY.`,
      { cause },
    )
  }
}

async function readKey(file: string): Promise<string | null> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const key = text.trim()
  if (/^[\x21-\x7e]{32,}$/.test(key)) return key
  throw new StartRefused(
    `${file} does not hold an admin key of at least 32 characters. Delete it to have a new one made, or set RANBOOK_ADMIN_KEY.`,
  )
}

/** A file that exists when this returns is whole and on disk: the key in it is about to be shown, once. */
async function writeKey(file: string, key: string): Promise<string> {
  const unfinished = `${file}.${randomUUID()}`
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    await handle.writeFile(`${key}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    // Unlike a rename, a link doesn't replace what another start has put there meanwhile.
    await link(unfinished, file)
    return key
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    return (await readKey(file)) ?? key
  } finally {
    await unlink(unfinished)
  }
}
