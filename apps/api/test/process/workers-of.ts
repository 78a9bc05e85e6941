import { readdirSync, readFileSync } from 'node:fs'
import type { Ranbook } from './start-ranbook.ts'

/** Process ids of a server's workers, those too that are starting. */
export function workersOf({ pid }: Pick<Ranbook, 'pid'>): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      // "pid (name) state parent …"
      const parent = /\) \S (\d+) /.exec(readProc(name, 'stat'))?.[1]
      // Node's mark of a worker, which no other process has that a server starts.
      return parent === String(pid) && readProc(name, 'environ').includes('NODE_UNIQUE_ID=')
    })
    .map(Number)
}

/** Empty for a process that has ended meanwhile. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ESRCH') return ''
    throw error
  }
}
