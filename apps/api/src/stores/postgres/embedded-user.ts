import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { EmbeddedPostgresError } from './embedded-error.ts'

/** The operating system's user that the embedded database runs as. */
export type DatabaseUser = {
  readonly name: string
  readonly uid: number
  readonly gid: number
  /** True when this process is root and its database processes have to change to the user. */
  readonly switched: boolean
}

/**
 * The user to run the embedded database as: this process's own, or, when that is root (PostgreSQL refuses root),
 * the one who owns the data folder already, else `postgres`, else `nobody`.
 *
 * @param folderOwner uid of the data folder's owner, or undefined when there is no folder yet.
 * @throws EmbeddedPostgresError `no_database_user` when the user has no entry in the user database (initdb needs a name).
 */
export function databaseUser(folderOwner: number | undefined): DatabaseUser {
  const self = ownUser()
  if (self.uid !== 0) return { ...self, switched: false }

  const users = passwdEntries()
  if (folderOwner !== undefined && folderOwner !== 0) {
    const owner = users.find((user) => user.uid === folderOwner)
    if (owner !== undefined) return { ...owner, switched: true }
    throw new EmbeddedPostgresError(
      `The data folder belongs to uid ${folderOwner}, which has no entry in /etc/passwd, so PostgreSQL can't run as its owner. Give the folder to a user that has one, or set DATABASE_URL to a PostgreSQL of your own.`,
      { code: 'no_database_user' },
    )
  }
  const user = users.find(({ name }) => name === 'postgres') ?? users.find(({ name }) => name === 'nobody')
  if (user !== undefined && user.uid !== 0) return { ...user, switched: true }
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root, and there is neither a user postgres nor a user nobody to run it as. Start Ranbook as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own.',
    { code: 'no_database_user' },
  )
}

/**
 * Whether this process is root, so that its database's processes have to be somebody else's.
 *
 * @throws EmbeddedPostgresError `no_database_user` when this process's uid has no name.
 */
export function runsAsRoot(): boolean {
  return ownUser().uid === 0
}

type NamedUser = { name: string; uid: number; gid: number }

function ownUser(): NamedUser {
  try {
    const { username, uid, gid } = userInfo()
    return { name: username, uid, gid }
  } catch (cause) {
    throw new EmbeddedPostgresError(
      'This process runs under a uid without an entry in /etc/passwd, which PostgreSQL refuses. Start Ranbook as a named user, or set DATABASE_URL to a PostgreSQL of your own.',
      { code: 'no_database_user', cause },
    )
  }
}

function passwdEntries(): NamedUser[] {
  return readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length >= 4)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
}
