import { connect as openSocket, type Socket } from 'node:net'
import postgres, { type Options, type PostgresType, type Sql } from 'postgres'
import type { PostgresTarget } from './postgres-target.ts'

/** What postgres.js hands to its `socket` option; its types leave it out. */
type SocketPlace = { host: string[]; port: number[]; path: string | false }

export type ConnectOptions = Options<Record<string, PostgresType>> & {
  /** Is told of every socket when it begins to connect. */
  onSocket: (socket: Socket) => void
}

/**
 * A postgres.js client that connects when it is first used. It is given its sockets, so that whoever holds one can
 * destroy it: postgres.js itself waits for ever for an answer on a connection whose other end is gone. The target names
 * one host: with several, postgres.js tries them for ever and tells nobody.
 */
export function connect(target: PostgresTarget, { onSocket, ...options }: ConnectOptions): Sql {
  const socket = ({ host, port, path }: SocketPlace): Socket => {
    const place = { host: host[0] ?? 'localhost', port: port[0] ?? 5432 }
    const opened = openSocket(path ? { path } : { ...place, noDelay: true })
    onSocket(opened)
    // postgres.js takes the name for TLS from here.
    return path ? opened : Object.assign(opened, { host: place.host })
  }
  const own = { application_name: 'ranbook', ...options.connection }
  const all = { fetch_types: false, no_subscribe: true, ...options, connection: own, socket } as Options<
    Record<string, PostgresType>
  >
  return typeof target === 'string' ? postgres(target, all) : postgres({ ...target, ...all })
}

/**
 * Cuts a connection. With an error, because postgres.js goes on connecting for the first statement of a connection that
 * was closed without one.
 */
export function destroySocket(socket: Socket): void {
  // Under TLS nobody listens on the socket below, and an error nobody listens for ends the process.
  if (socket.listenerCount('error') === 0) socket.on('error', () => undefined)
  socket.destroy(new Error('the connection was given up'))
}
