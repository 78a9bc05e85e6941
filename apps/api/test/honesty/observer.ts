import type { Verdict } from '@ranbook/contract'
import type { LookupAnswer, Question } from '../../src/ledger/lookup.ts'

/** Who a run was granted to, for which event. */
export type Identity = { consumer: string; class: string; key: string }

/**
 * One grant, as its consumer saw it: its leases, each in force from `setAt` until the next, and what its consumer said
 * and was acknowledged. `degraded`: granted while Redis could not be asked, so that it may be one of two. Times in ms.
 */
export type Run = {
  identity: Identity
  grantedAt: number
  leases: { setAt: number; until: number }[]
  end: { at: number; as: 'completed' | 'failed' | 'released' } | null
  degraded: boolean
}

/** When it was over as far as its consumer could tell: by its own word, else with its lease. */
export function overAt({ leases, end }: Run): number {
  return end?.at ?? leases.at(-1)?.until ?? 0
}

/** The leases that were in force at some time from `from` on. */
function leasesFrom({ leases }: Run, from: number): Run['leases'] {
  return leases.filter((_, at) => (leases[at + 1]?.setAt ?? Number.POSITIVE_INFINITY) >= from)
}

/** An answered lookup, how many runs there were when it was asked, and the clock before and after it. */
export type Answered = {
  question: Question
  runsBefore: number
  askedAt: number
  answeredAt: number
  answer: Extract<LookupAnswer, { kind: 'answered' }>
}

/**
 * What is wrong about an answer by what consumers did, one sentence each. `runs` are all that ever were; of what
 * happened while the lookup ran either state is right. An event is claimed when it occurred or later.
 */
export function wrongIn(asked: Answered, runs: readonly Run[]): string[] {
  const { question, askedAt, answeredAt, answer } = asked
  const isAbout = ({ identity }: Run): boolean =>
    identity.key === question.q &&
    (question.class === null || identity.class === question.class) &&
    (question.consumer === null || identity.consumer === question.consumer)
  const about = runs.filter(isAbout)
  const wrong: string[] = []
  const say = (verdict: Verdict, why: string): void => {
    wrong.push(`${verdict} is wrong: ${why}; ${JSON.stringify({ question, askedAt, answeredAt })} ${answer.sentence}`)
  }

  if (answer.verdict === 'never') {
    for (const run of runs.slice(0, asked.runsBefore).filter(isAbout)) {
      if (run.grantedAt >= (question.at ?? 0)) say('never', JSON.stringify(run))
    }
  }
  if (answer.records.length > 0 && !answer.records.some(({ verdict }) => verdict === answer.verdict)) {
    say(answer.verdict, 'no record listed gives it')
  }
  for (const { record, verdict } of answer.records) {
    const own = about.filter(({ identity }) => identity.class === record.class && identity.consumer === record.consumer)
    const open = own.filter(({ end }) => end === null || end.at >= askedAt)
    switch (verdict) {
      case 'ran':
      case 'ran_again':
      case 'ran_details_erased':
        if (!own.some(({ end }) => end?.as === 'completed')) say(verdict, 'nobody completed it')
        break
      case 'running':
        if (!open.some((run) => leasesFrom(run, askedAt).some(({ until }) => until >= askedAt))) {
          say(verdict, 'nobody held a live lease')
        }
        break
      case 'interrupted': {
        const silent = open.filter((run) => leasesFrom(run, askedAt).some(({ until }) => until < answeredAt))
        const takenUp = (run: Run): boolean =>
          own.some((other) => other.grantedAt > run.grantedAt && other.grantedAt < askedAt && !other.degraded)
        if (silent.every(takenUp)) say(verdict, JSON.stringify(own))
        break
      }
      default:
        break
    }
  }
  return wrong
}
