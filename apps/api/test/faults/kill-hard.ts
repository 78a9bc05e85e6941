import { readdirSync } from 'node:fs'
import { vi } from 'vitest'
import { guardsIn, processesIn } from '../embedded/processes-in.ts'

/** Process ids of PostgreSQL itself, without the shells that guard it. */
export function postgresIn(dataDir: string): number[] {
  const guards = guardsIn(dataDir)
  return processesIn(dataDir).filter((pid) => !guards.includes(pid))
}

/** kill -9 for all of them at once. Resolves when every one of them is gone; fails if there was none or one stays. */
export async function killHard(pids: readonly number[]): Promise<void> {
  if (pids.length === 0) throw new Error('There is no process to kill, so the fault did not happen')
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      // One of PostgreSQL's processes that ended with the first one killed.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
    }
  }
  await vi.waitUntil(() => pids.every(isGone), { timeout: 10_000 })
}

/** True when it ended, even if its parent has not taken note yet. */
function isGone(pid: number): boolean {
  try {
    // A zombie has no files open any more, not even a folder of them that could be read.
    return readdirSync(`/proc/${pid}/fd`).length === 0
  } catch {
    return true
  }
}
