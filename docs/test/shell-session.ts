import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** One shell that commands are pasted into, one block after the other. */
export type ShellSession = {
  /** Runs a block and resolves to what it printed. Rejects, with that, where a command of it fails. */
  run(block: string): Promise<string>
  end(): Promise<void>
}

// A request that is refused fails the command that made it.
const prelude = 'set -euo pipefail; curl() { command curl --fail-with-body "$@"; }\n'

/** Opens a shell in `folder`. Any command that fails ends it. */
export function openShell(folder: string, env: Record<string, string>): ShellSession {
  const shell = spawn('bash', ['-s'], { cwd: folder, env, stdio: 'pipe' })
  let printed = ''
  let heard = () => {}
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      heard()
    })
  }
  const ended = once(shell, 'close')
  let count = 0
  shell.stdin.write(prelude)

  return {
    run: async (block) => {
      count += 1
      const from = printed.length
      const end = `--- block ${count} has run ---\n`
      const file = join(folder, `block-${count}.sh`)
      await writeFile(file, block)
      const done = new Promise<void>((resolve) => {
        heard = () => {
          if (printed.endsWith(end)) resolve()
        }
      })
      shell.stdin.write(`. '${file}' </dev/null; echo '${end.trim()}'\n`)
      const failed = ended.then(() => Promise.reject(new Error(`a command failed:\n${block}\n${printed.slice(from)}`)))
      await Promise.race([done, failed])
      return printed.slice(from, -end.length)
    },
    end: async () => {
      shell.stdin.end()
      await ended
    },
  }
}
