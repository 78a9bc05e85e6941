import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles } from './list-files.mjs'
import { root } from './root.mjs'

const sourceEndings = ['.ts', '.tsx', '.mjs', '.css', '.sql', '.lua', '.sh', '.py']
// Past this a reader no longer has the whole file in mind.
const maxLines = 300

/**
 * Source files that are too long, migrations aside (a tool writes them).
 * @returns {string[]} one sentence each
 */
export function findLongFiles() {
  return listFiles(sourceEndings)
    .filter((file) => !file.startsWith('drizzle/'))
    .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
    .filter(({ lines }) => lines > maxLines)
    .map(({ file, lines }) => `${file} has ${lines} lines; ${maxLines} is the limit.`)
}
