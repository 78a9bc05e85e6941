import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second in /proc; 100 on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Fields 4 (parent), 14 to 17 (user, system, and those of reaped children) of /proc/<pid>/stat. */
function readStat(pid: number): { parent: number; own: number; reaped: number } | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null // it ended between listing and reading
  }
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const at = (field: number) => fields[field - 3] ?? 0
  return { parent: at(4), own: at(14) + at(15), reaped: at(16) + at(17) }
}

/** CPU seconds of a process, its children and those it has reaped. */
export function cpuSeconds(pid: number): number {
  const self = readStat(pid)
  if (self === null) throw new Error(`process ${pid} is gone`)
  let ticks = self.own + self.reaped
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = readStat(Number(name))
    if (stat?.parent === pid) ticks += stat.own
  }
  return ticks / ticksPerSecond
}

/** Resident memory of a process in MB (10^6 bytes). */
export function residentMb(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return (Number(kilobytes) * 1024) / 1e6
}
