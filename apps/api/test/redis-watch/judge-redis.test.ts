import { expect, test } from 'vitest'
import { judgeRedis, type RedisMaster, type SeenMaster } from '../../src/jobs/judge-redis.ts'
import { mayEvict, redisWarnings } from '../../src/jobs/redis-warnings.ts'

const known: RedisMaster = { id: 'one:6379', runId: 'run-1', evicted: 3, markerKey: 'rb:epoch:0', epoch: 'epoch-1' }

function seen(differing: Partial<SeenMaster> = {}): SeenMaster {
  return { ...known, maxmemory: 0, policy: 'noeviction', ...differing }
}

function causes(before: readonly RedisMaster[], now: readonly SeenMaster[]): string[] {
  return judgeRedis(before, now).map(({ cause }) => cause)
}

test('a master that is as it was lost nothing', () => {
  expect(causes([known], [seen()])).toEqual([])
})

test('a Redis that nobody knew can have lost nothing of ours, with a marker or without', () => {
  expect(causes([], [seen(), seen({ id: 'two:6379', epoch: null })])).toEqual([])
})

test.each<[string, Partial<SeenMaster>]>([
  ['flushed', { epoch: null }],
  ['empty', { epoch: null, runId: 'run-2', evicted: 0 }],
  ['empty', { epoch: null, runId: 'run-2', evicted: 9 }],
  ['evicted', { evicted: 4 }],
  ['evicted', { evicted: 4, epoch: null }],
  // The count was set back, and grew again.
  ['evicted', { evicted: 2 }],
  ['evicted', { evicted: 1, runId: 'run-2' }],
  ['failed_over', { runId: 'run-2', evicted: 0 }],
  ['replaced', { epoch: 'epoch-0' }],
  ['replaced', { epoch: 'epoch-0', runId: 'run-2', evicted: 0 }],
  ['failed_over', { id: 'two:6379', runId: 'run-2', evicted: 0 }],
  ['replaced', { id: 'two:6379', runId: 'run-2', epoch: null }],
  ['replaced', { id: 'two:6379', runId: 'run-2', epoch: 'epoch-0' }],
])('%s is found where %j differs', (cause, differing) => {
  expect(causes([known], [seen(differing)])).toEqual([cause])
})

test('a count of evicted keys that was set back to nothing is no eviction', () => {
  expect(causes([known], [seen({ evicted: 0 })])).toEqual([])
})

test('a server that answers for another one is told apart, as each process meets it by itself', () => {
  expect(judgeRedis([known], [seen({ id: 'two:6379' })])).toEqual([
    { cause: 'failed_over', moved: true, detail: 'two:6379 answers for one:6379' },
  ])
  expect(judgeRedis([known], [seen({ epoch: null })])).toEqual([
    { cause: 'flushed', moved: false, detail: 'one:6379 was flushed' },
  ])
})

const second: RedisMaster = { ...known, id: 'two:6379', runId: 'run-2', markerKey: 'rb:epoch:2', epoch: 'epoch-2' }
const joined = seen({ id: 'new:6379', runId: 'run-9', markerKey: 'rb:epoch:7', epoch: null, evicted: 0 })

test('a master that joins a cluster lost nothing, nor does one that gives up the slot of its marker', () => {
  expect(causes([known, second], [seen(), seen(second), joined])).toEqual([])
  expect(causes([known], [seen({ markerKey: 'rb:epoch:1', epoch: null }), seen({ id: 'new:6379' })])).toEqual([])
})

test('a restart without its data is found also where the marker’s slot moved meanwhile', () => {
  expect(causes([known], [seen({ markerKey: 'rb:epoch:1', epoch: null, runId: 'run-2' })])).toEqual(['empty'])
})

test('each master of a cluster is judged by itself', () => {
  const promoted = seen({ ...second, id: 'three:6379', runId: 'run-3' })
  expect(causes([known, second], [seen({ epoch: null }), promoted])).toEqual(['flushed', 'failed_over'])
})

test.each([
  [0, 'noeviction', false, 0],
  [1_000_000, 'noeviction', false, 0],
  [0, 'allkeys-lru', false, 1],
  [1_000_000, 'allkeys-lru', true, 1],
  // Every key of a window has a time to live.
  [1_000_000, 'volatile-ttl', true, 1],
])('with maxmemory %i and %s keys may be evicted: %s', (maxmemory, policy, evicts, warnings) => {
  expect(mayEvict({ maxmemory, policy })).toBe(evicts)
  const told = redisWarnings([seen({ maxmemory, policy })])
  expect(told).toHaveLength(warnings)
  for (const { target, sentence } of told) {
    expect(target).toBe('redis one:6379')
    expect(sentence).toContain(policy)
    expect(sentence.includes('window_outage')).toBe(evicts)
  }
})
