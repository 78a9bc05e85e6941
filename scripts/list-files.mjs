import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.mjs'

/**
 * The checkout's own files whose name ends in one of the given ways: tracked ones, and new ones git wouldn't ignore.
 * @param {readonly string[]} endings such as `.ts`
 * @returns {string[]} paths from the top folder, with forward slashes
 */
export function listFiles(endings) {
  const git = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (git.status !== 0) throw new Error(`git could not list the files: ${git.error?.message ?? git.stderr}`)
  const files = git.stdout.split('\0').filter((file) => endings.some((ending) => file.endsWith(ending)))
  // A file deleted but not yet committed is still in git's list.
  return [...new Set(files)].sort().filter((file) => existsSync(join(root, file)))
}
