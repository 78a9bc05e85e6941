import { readFileSync } from 'node:fs'

// Often enough that an idle server is gone within a second of npm.
const checkEveryMs = 100

// Sampled when the module is loaded, before anything slow.
const lineAtStart = lineToNpm()

/**
 * Calls back, once, when the `npm` that started this process is ended: `kill <npm's pid>` ends npm, often its shell
 * too, and tells this process nothing. All it can see is that it, or the shell, has another parent then.
 * Without npm nothing is watched: `node scripts/start.mjs &` may outlive its shell.
 * @param {() => void} callback
 */
export function onNpmGone(callback) {
  if (!process.env.npm_lifecycle_event) return
  const watch = setInterval(() => {
    if (lineToNpm() === lineAtStart) return
    clearInterval(watch)
    callback()
  }, checkEveryMs)
  watch.unref()
}

/** The processes from this one's parent to npm: npm itself, or its shell and npm (the latter where /proc tells). */
function lineToNpm() {
  const parent = process.ppid
  try {
    // "pid (name) state parent …"
    const [, name, npm] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${parent}/stat`, 'utf8')) ?? []
    return name === 'sh' ? `${parent} ${npm}` : `${parent}`
  } catch {
    // No /proc on this system, or the parent ended just now: then the next look finds another one.
    return `${parent}`
  }
}
