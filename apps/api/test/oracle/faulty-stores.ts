import type { Change, InsertOutcome, LedgerRecord, ReadOutcome, RecordStore } from '@ranbook/rules'

/** A store with one promise broken, in the way that a careless implementation would break it. */
export type Fault = { breaks: RegExp; spoil(store: RecordStore): Partial<RecordStore> }

/** Faults that the checker of histories has to see, by what is wrong. */
export const faults: Readonly<Record<string, Fault>> = {
  'take-over without compare-and-set': {
    breaks: /^S(1|8|9):/,
    spoil: (store) => ({
      compareAndSet: (changes) =>
        eachAlone(changes, async (change) => {
          const current = await recordIn(store, change.record.digest)
          const version = current?.version ?? change.expectVersion
          return store.compareAndSet([
            { ...change, expectVersion: version, record: { ...change.record, version: version + 1 } },
          ])
        }),
    }),
  },
  'complete without the token check': {
    breaks: /^S3:/,
    spoil: (store) => ({
      completeClaimed: (requests) =>
        eachAlone(requests, async (request) => {
          const current = await recordIn(store, request.digest)
          return store.completeClaimed([{ ...request, claimToken: current?.claimToken ?? request.claimToken }])
        }),
    }),
  },
  'settle judged by lease time': {
    breaks: /^S12:/,
    spoil: (store) => ({
      completeClaimed: async (requests) => requests.map(() => null),
      read: async (requests) =>
        (await store.read(requests)).map((found) => {
          const over = found?.record.leaseExpiresAt != null && found.now > found.record.leaseExpiresAt
          return found && over ? withoutToken(found) : found
        }),
    }),
  },
  'claim token ignored when a claim is repeated': {
    breaks: /^S(1|8):/,
    spoil: (store) => ({ insertIfAbsent: async (records) => (await store.insertIfAbsent(records)).map(withoutToken) }),
  },
  'claim decided in a stale snapshot': {
    breaks: /^S1:/,
    spoil: (store) => ({
      insertIfAbsent: async (records) =>
        (await store.insertIfAbsent(records)).map((outcome, at): InsertOutcome => {
          const { record, inserted } = outcome
          if (inserted || record.version > 1 || record.state !== 'claimed') return outcome
          const claimToken = records[at]?.request.claimToken ?? record.claimToken
          return { ...outcome, inserted: true, record: { ...record, claimToken } }
        }),
    }),
  },
  'lease shorter than it was granted for': {
    breaks: /^S2:/,
    spoil: (store) => ({
      insertIfAbsent: async (records) => {
        const outcomes = await store.insertIfAbsent(records.map((record) => ({ ...record, leaseMs: 1 })))
        return outcomes.map((outcome, at) => {
          const leaseMs = records[at]?.leaseMs ?? 1
          return outcome.inserted ? { ...outcome, record: { ...outcome.record, leaseMs } } : outcome
        })
      },
    }),
  },
  'complete that overwrites': {
    breaks: /^S4:/,
    spoil: (store) => ({
      completeClaimed: (requests) =>
        eachAlone(requests, async (request) => {
          const current = await recordIn(store, request.digest)
          if (current?.state !== 'completed' || current.claimToken !== request.claimToken)
            return store.completeClaimed([request])
          const record = { ...current, version: current.version + 1, result: request.result }
          const change = {
            expectVersion: current.version,
            record,
            grants: false,
            archive: null,
            fill: null,
            audit: null,
          }
          const [written] = await store.compareAndSet([change])
          return [written ? { ...written, now: current.claimedAt } : null]
        }),
    }),
  },
  'completed record granted again': {
    breaks: /^S5:/,
    spoil: (store) => ({
      insertIfAbsent: async (records) => (await store.insertIfAbsent(records)).map(asIfReleased),
    }),
  },
  'hold swept into failed': {
    breaks: /^S11:/,
    spoil: (store) => ({
      compareAndSet: (changes) =>
        store.compareAndSet(changes.map((change) => (change.record.state === 'held' ? asFailed(change) : change))),
    }),
  },
  'fencing numbers in blocks of 32 per session': {
    breaks: /^S9:/,
    spoil: (store) => {
      let grants = 0
      return {
        compareAndSet: (changes) =>
          store.compareAndSet(
            changes.map((change) => {
              if (!change.grants) return change
              grants += 1
              const fencingToken = 1_000_000 + (grants % 2) * 32 + grants
              return { ...change, grants: false, record: { ...change.record, fencingToken } }
            }),
          ),
      }
    },
  },
}

async function eachAlone<Item, Answer>(
  items: readonly Item[],
  call: (item: Item) => Promise<Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const item of items) answers.push(...(await call(item)))
  return answers
}

async function recordIn(store: RecordStore, digest: string): Promise<LedgerRecord | null> {
  const [found] = await store.read([{ digest, claimToken: null }])
  return found?.record ?? null
}

const nobody = 'ffffffff-ffff-4fff-8fff-ffffffffffff'

function withoutToken<Found extends ReadOutcome>(found: Found): Found {
  return { ...found, tokenSpent: false, record: { ...found.record, claimToken: nobody } }
}

function asIfReleased(outcome: InsertOutcome): InsertOutcome {
  if (outcome.inserted || outcome.record.state !== 'completed') return outcome
  return { ...outcome, record: { ...outcome.record, state: 'ready', cause: 'retry' } }
}

function asFailed(change: Change): Change {
  const availableAt = change.record.leaseExpiresAt ?? change.record.claimedAt
  return {
    ...change,
    record: { ...change.record, state: 'failed', leaseExpiresAt: null, endedAt: availableAt, availableAt },
  }
}
