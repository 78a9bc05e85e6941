import type { DatabaseUser } from './embedded-user.ts'

/** The only database role: the owner of everything, whom only root and the database's user can become. */
export const EMBEDDED_ROLE = 'ranbook'

/** The database that initdb makes. The whole server is Ranbook's own, so no other one is needed. */
export const EMBEDDED_DATABASE = 'postgres'

/**
 * postgresql.conf of the embedded database: a small service beside its own API on one machine. An operator changes
 * a value with ALTER SYSTEM, which has precedence.
 */
export const EMBEDDED_CONFIG = `\
# Ranbook writes this file at each start. Change a setting with ALTER SYSTEM instead.

# The hot index of about four million records; memory is taken when it is first used.
shared_buffers = 256MB
# A crash is recovered from at most this much log, some ten seconds of work; less would write whole pages more often.
max_wal_size = 2GB
# Log files kept for the next burst rather than made anew.
min_wal_size = 256MB
# A claimed and settled row is dead twice; noticed early, its space is used again.
autovacuum_naptime = 15s
# Files in the data folder: /dev/shm may be small or missing in a container, and is swept when its user logs out.
dynamic_shared_memory_type = mmap
# Statements are short and the cores belong to claims: no compiling, and no report takes more cores than its own.
jit = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0

# Nothing of a statement or a row is written to the log; the API reports the errors it gets.
log_min_messages = log
log_min_error_statement = panic
log_error_verbosity = terse
log_checkpoints = off
log_timezone = UTC
timezone = UTC
cluster_name = ranbook
`

/**
 * Settings on postgres's command line, where ALTER SYSTEM can't change them: where it listens, and that what it
 * acknowledged survives a power cut.
 *
 * @param sockets folder of the socket, as the database reaches it.
 * @param durable false only for data that may be lost with the machine, as tests make.
 */
export function embeddedArguments(sockets: string, durable: boolean): string[] {
  const flushed = durable ? 'on' : 'off'
  return [
    'listen_addresses=',
    // A list by its grammar, so a path is quoted.
    `unix_socket_directories="${sockets.replaceAll('"', '""')}"`,
    'unix_socket_permissions=0700',
    'port=5432',
    `fsync=${flushed}`,
    `full_page_writes=${flushed}`,
    // On in any case: a killed process must not lose what it acknowledged, even where a power cut may.
    'synchronous_commit=on',
  ].flatMap((setting) => ['-c', setting])
}

/** pg_hba.conf: over the socket only, and only for the operating system's users named in pg_ident.conf. */
export const EMBEDDED_HBA = 'local all all peer map=own\n'

/** pg_ident.conf: root and the database's user are the one role there is. */
export function embeddedIdent(user: DatabaseUser): string {
  return ['root', user.name].map((name) => `own "${name.replaceAll('"', '""')}" ${EMBEDDED_ROLE}\n`).join('')
}
