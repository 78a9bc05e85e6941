import { spawn } from 'node:child_process'
import { capture } from './capture.ts'

/** Keys are drawn from so many that nearly each one is new. */
const keySpace = 100_000_000

/** `SET key value NX PX` by redis-benchmark, `clients` connections without pipelining. Returns commands per second. */
export async function runRedisBenchmark(port: number, clients: number, commands: number): Promise<number> {
  const own = ['-h', '127.0.0.1', '-p', String(port), '-c', String(clients), '-n', String(commands), '--csv']
  const set = ['SET', 'bare:__rand_int__', 'x'.repeat(64), 'NX', 'PX', '3600000']
  const child = spawn('redis-benchmark', [...own, '-r', String(keySpace), ...set], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = await capture(child, 'redis-benchmark')
  const perSecond = Number(/^"SET[^"]*","([\d.]+)"/m.exec(output)?.[1])
  if (!Number.isFinite(perSecond)) throw new Error(`redis-benchmark gave no figure:\n${output}`)
  return perSecond
}
