import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { RedisTarget } from './redis-target.ts'

/** A hung server is given up within this. A command that was given up is still executed later: see the token rule. */
const commandTimeout = 300
/** Drops a connection that hangs, and with it whatever was still queued for it. */
const socketTimeout = 1500
const connectTimeout = 2000
/** Back within half a second of its return; jitter spreads the processes. */
const reconnectMaxMs = 500
const jitterMs = 50
/** MOVED and ASK while slots migrate, and repeated tries while a master is replaced; more outlast the deadline. */
const redirectionsMax = 5
/** Finds masters that came back without a failover. */
const slotsRefreshMs = 2000

const common = {
  // A command that may have run is never sent again by itself; callers repeat it with the same claim token.
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  enableOfflineQueue: false,
  // It gains nothing for scripts, and in a cluster it fails for keys of bytes.
  enableAutoPipelining: false,
  commandTimeout,
  socketTimeout,
  connectTimeout,
  // Answers are the same; HELLO and CLIENT SETINFO would be two more commands to permit.
  protocol: 2,
  disableClientInfo: true,
  // A master that became a replica keeps its connections: the new one is found by connecting anew.
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
} satisfies RedisOptions

/**
 * A client that connects by itself, again and again, and fails at once while there is no connection. Every kind takes the
 * same commands.
 */
export function createRedisClient(target: RedisTarget): Redis | Cluster {
  const { kind, hosts, db } = target
  const access = {
    ...(target.username === null ? {} : { username: target.username }),
    ...(target.password === null ? {} : { password: target.password }),
    ...(target.tls ? { tls: {} } : {}),
  }
  switch (kind.is) {
    case 'cluster': {
      return new Cluster(hosts, {
        redisOptions: { ...common, ...access },
        enableOfflineQueue: false,
        maxRedirections: redirectionsMax,
        slotsRefreshTimeout: connectTimeout,
        slotsRefreshInterval: slotsRefreshMs,
        clusterRetryStrategy: reconnectAfter,
        // Certificates name hosts, not the addresses that they resolve to.
        ...(target.tls
          ? { dnsLookup: (host: string, answer: (error: null, address: string) => void) => answer(null, host) }
          : {}),
      })
    }
    case 'sentinels':
      return new Redis({
        ...common,
        ...access,
        db,
        sentinels: hosts,
        name: kind.name,
        enableTLSForSentinelMode: target.tls,
        retryStrategy: reconnectAfter,
        sentinelRetryStrategy: reconnectAfter,
      })
    case 'single':
      return new Redis({ ...common, ...access, ...hosts[0], db, retryStrategy: reconnectAfter })
  }
}

function reconnectAfter(times: number): number {
  return Math.min(times * 100, reconnectMaxMs) + Math.floor(Math.random() * jitterMs)
}
