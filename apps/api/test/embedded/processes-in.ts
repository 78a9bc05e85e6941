import { readdirSync, readlinkSync } from 'node:fs'

/** Process ids of everything that works inside a folder: the database's processes, and its guard's. */
export function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => workingFolder(pid)?.startsWith(folder))
}

/** Process ids of the guard's two shells, which work in the data folder itself. */
export function guardsIn(dataDir: string): number[] {
  return processesIn(dataDir).filter((pid) => workingFolder(pid) === dataDir)
}

function workingFolder(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch (error) {
    // It ended meanwhile, is a zombie, or belongs to somebody whose processes may not be looked at.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES') return undefined
    throw error
  }
}
