import type { Cluster, Redis } from 'ioredis'
import type { CellPort } from '../window/cell-port.ts'
import type { BoundedCalls } from './bounded-calls.ts'
import { INSERT_CELL, READ_CELL, SWAP_CELL } from './cell-scripts.ts'
import { cellOf, readFencing, valueHead, valueRest } from './cell-value.ts'
import { cellKey } from './keys.ts'
import { redisError } from './redis-error.ts'

/** The scripts as ioredis adds them to a client, answering bytes. */
type ScriptedClient = {
  rbkInsertBuffer(key: Buffer, rest: Buffer, lastsMs: number): Promise<[now: number, standing?: Buffer]>
  rbkReadBuffer(key: Buffer): Promise<[now: number, value: Buffer | null]>
  rbkSwapBuffer(key: Buffer, head: Buffer, draws: string, rest: Buffer, expiresAt: number): Promise<Buffer | null>
}

const firstVersion = 1

/**
 * The cells of a window in Redis: one script with one key for each item, those of a call sent together. Two items of one
 * call never name one key, so it does not matter in which order a cluster answers them.
 */
export function createRedisCells(client: Redis | Cluster, calls: BoundedCalls): CellPort {
  for (const [name, lua] of [
    ['rbkInsert', INSERT_CELL],
    ['rbkRead', READ_CELL],
    ['rbkSwap', SWAP_CELL],
  ] as const) {
    client.defineCommand(name, { numberOfKeys: 1, lua })
  }
  const scripts = client as unknown as ScriptedClient
  const gather = gatherWrites(client)

  async function ask<Item, Answer>(items: readonly Item[], send: (item: Item) => Promise<Answer>): Promise<Answer[]> {
    try {
      return await calls.all(items.length, () => {
        gather()
        return items.map(send)
      })
    } catch (error) {
      throw redisError(error)
    }
  }

  return {
    async insert(items) {
      const answers = await ask(items, ({ id, body, lastsMs }) =>
        scripts.rbkInsertBuffer(cellKey(id), valueRest(firstVersion, body), lastsMs),
      )
      return items.map(({ body }, at) => {
        const [micros = 0, standing] = answers[at] ?? []
        const cell = standing ? cellOf(standing) : { version: firstVersion, fencingToken: micros, body }
        return { inserted: !standing, cell, now: inMs(micros) }
      })
    },

    async read(ids) {
      const answers = await ask(ids, (id) => scripts.rbkReadBuffer(cellKey(id)))
      return answers.map(([micros, value]) => (value ? { cell: cellOf(value), now: inMs(micros) } : null))
    },

    async swap(items) {
      const answers = await ask(items, ({ id, expected, grants, body, expiresAt }) =>
        scripts.rbkSwapBuffer(
          cellKey(id),
          valueHead(expected),
          grants ? '1' : '0',
          valueRest(expected.version + 1, body),
          expiresAt,
        ),
      )
      return answers.map((fencing) => (fencing ? { fencingToken: readFencing(fencing) } : null))
    },
  }
}

/**
 * What is sent in one turn of the event loop leaves together: a call of the system for each command costs more than the
 * command. A cluster's connections are its own.
 */
function gatherWrites(client: Redis | Cluster): () => void {
  let gathering = false
  return () => {
    if (gathering || !('stream' in client) || !client.stream?.writable) return
    const { stream } = client
    gathering = true
    stream.cork()
    setImmediate(() => {
      gathering = false
      stream.uncork()
    })
  }
}

function inMs(micros: number): number {
  return Math.floor(micros / 1000)
}
