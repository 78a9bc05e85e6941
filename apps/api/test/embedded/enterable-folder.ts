import { chmod, mkdtemp, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Makes an empty temporary folder that every user may enter, as a data folder's parent has to be. */
export async function enterableFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'ranbook-test-')))
  await chmod(folder, 0o755)
  return folder
}
