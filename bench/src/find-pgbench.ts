import { existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const debianFolder = '/usr/lib/postgresql'

/** The pgbench on the PATH, or the newest of Debian's; throws a sentence where there is none. */
export function findPgbench(): string {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'pgbench'))
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a)) : []
  const found = [...onPath, ...versions.map((version) => join(debianFolder, version, 'bin', 'pgbench'))].find(
    existsSync,
  )
  if (found === undefined) throw new Error('pgbench is needed: install the package postgresql-contrib or postgresql')
  return found
}
