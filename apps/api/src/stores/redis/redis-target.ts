/** Where Redis is, as its address says. */
export type RedisTarget = {
  /** `name`: of the master that the sentinels watch. */
  kind: { is: 'single' } | { is: 'cluster' } | { is: 'sentinels'; name: string }
  /** Servers of the cluster, or sentinels; one for a single server. */
  hosts: { host: string; port: number }[]
  tls: boolean
  username: string | null
  password: string | null
  db: number
}

/** An address that can't be understood. The message says what to write and quotes nothing of it. */
export class RedisAddressRefused extends Error {
  override readonly name = 'RedisAddressRefused'
}

const form = /^(rediss?)(?:\+(cluster|sentinel))?:\/\/(?:([^/]*)@)?([^/@?#]+)(?:\/([^/?#]*))?(?:\/(\d{1,4}))?$/
const hostForm = /^(\[[0-9a-fA-F:.]+\]|[^:[\]\s]+)(?::(\d{1,5}))?$/

const ports = { redis: 6379, sentinel: 26_379 }

/**
 * Takes an address apart: `redis://host:6379`, `redis+sentinel://host:26379,host:26379/mymaster`, and
 * `redis+cluster://host:6379` or several servers of a cluster with commas between them, `redis://host:6379,host:6379`.
 * `rediss` for TLS, `user:password@` before the hosts, `/1` at the end for a database (a cluster has but one).
 *
 * @throws RedisAddressRefused
 */
export function parseRedisTarget(address: string): RedisTarget {
  const [, scheme, sort, user, hostTexts = '', first = '', second] = form.exec(address) ?? refuse()
  const isSentinels = sort === 'sentinel'
  const hosts = hostTexts.split(',').map((text) => hostOf(text, isSentinels ? ports.sentinel : ports.redis))
  const isCluster = sort === 'cluster' || (!isSentinels && hosts.length > 1)
  const [, username = '', password] = /^([^:]*)(?::(.*))?$/.exec(user ?? '') ?? refuse()
  const common = {
    hosts,
    tls: scheme === 'rediss',
    username: username === '' ? null : decoded(username),
    password: password === undefined ? null : decoded(password),
  }
  if (isSentinels) {
    if (first === '')
      throw new RedisAddressRefused('After the sentinels the name of their master has to stand: /mymaster')
    return { ...common, kind: { is: 'sentinels', name: decoded(first) }, db: Number(second ?? 0) }
  }
  if (second !== undefined || !/^\d{0,4}$/.test(first)) refuse()
  const db = Number(first)
  if (isCluster && db !== 0) throw new RedisAddressRefused('A Redis cluster has no other database than 0.')
  return { ...common, kind: { is: isCluster ? 'cluster' : 'single' }, db }
}

function hostOf(text: string, defaultPort: number): { host: string; port: number } {
  const [, host = '', port] = hostForm.exec(text) ?? refuse()
  const number = Number(port ?? defaultPort)
  if (number < 1 || number > 65_535) refuse()
  return { host: host.replace(/^\[|\]$/g, ''), port: number }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return refuse()
  }
}

function refuse(): never {
  throw new RedisAddressRefused(
    'This is no address of Redis. Write redis://host:6379, redis+cluster://host:6379,host:6379 or ' +
      'redis+sentinel://host:26379,host:26379/mymaster; rediss for TLS; signs in a password as %XX.',
  )
}
