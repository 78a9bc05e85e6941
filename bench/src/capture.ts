import type { ChildProcess } from 'node:child_process'

/** Everything a child printed to standard output; throws where it could not be started or ended with another code than 0. */
export function capture(child: ChildProcess, name: string): Promise<string> {
  let output = ''
  let errors = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    output += chunk
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk
  })
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(new Error(`${name} could not be started`, { cause })))
    child.on('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`${name} ended with code ${code}:\n${output}${errors}`))
    })
  })
}
