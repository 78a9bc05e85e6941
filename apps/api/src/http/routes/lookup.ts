import { type CoverageView, errorCodes, type LookupRecordView, type LookupView, routes } from '@ranbook/contract'
import { type Coverage, durationText, lossText, recordId, visibleState } from '@ranbook/rules'
import type { RecordAnswer } from '../../ledger/describe-records.ts'
import { type LookupDeps, lookup } from '../../ledger/lookup.ts'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { parseQuery } from '../parse-query.ts'
import { HttpProblem } from '../problem.ts'
import { timeText } from '../time-text.ts'
import { settledAt } from '../write-record.ts'
import { duplicatesView, timeOrNull } from '../write-record-file.ts'

/** `GET /v1/lookup`: "did this ever run?" */
export function registerLookup(serve: Serve, { ledger, classes }: HttpDeps): void {
  const deps: LookupDeps = { store: ledger.store, windows: ledger.windows, classes, now: Date.now }

  serve(routes.lookup, async (call) => {
    const { q, class: className, consumer, at } = parseQuery(call, routes.lookup.query)
    const answer = await lookup(deps, call.caller.scope, {
      q,
      class: className ?? null,
      consumer: consumer ?? null,
      at: at === undefined ? null : Date.parse(at),
    })
    if (answer.kind === 'scope_too_wide') throw new HttpProblem('scope_too_wide', errorCodes.scope_too_wide.meaning)
    const view: LookupView = {
      verdict: answer.verdict,
      sentence: answer.sentence,
      checked_at: timeText(answer.checkedAt),
      records: answer.records.map(recordView),
      more: answer.more,
      coverage: answer.coverage.map(coverageView),
    }
    return jsonAnswer(JSON.stringify(view))
  })
}

function recordView(answer: RecordAnswer): LookupRecordView {
  const { record, now } = answer
  return {
    id: recordId(record),
    class: record.class,
    consumer: record.consumer,
    key: record.key,
    matched: answer.matched,
    state: visibleState(record, now),
    verdict: answer.verdict,
    sentence: answer.sentence,
    generation: record.generation,
    attempt: record.attempt,
    first_claimed_at: timeText(record.firstClaimedAt),
    claimed_at: timeText(record.claimedAt),
    lease_expires_at: timeOrNull(record.leaseExpiresAt),
    settled_at: timeOrNull(settledAt(record)),
    duplicates: duplicatesView(answer.duplicates),
    late_completions: answer.lateCompletions,
  }
}

function coverageView(coverage: Coverage): CoverageView {
  const { class: name, store, completeSince } = coverage
  return { class: name, store, complete_since: timeText(completeSince), note: noteOf(coverage) }
}

function noteOf({ gap, completeSince }: Coverage): string | null {
  if (gap === null) return null
  switch (gap.kind) {
    case 'ledger_newer':
      return 'The ledger began after the time asked.'
    case 'time_ahead':
      return 'The time asked is still to come.'
    case 'class_newer':
      return `First claimed here at ${timeText(gap.firstSeenAt)}, after the time asked.`
    case 'never_claimed':
      return 'Not claimed here yet.'
    case 'window_over':
      return `A ${durationText(gap.windowMs)} window: a run before ${timeText(completeSince)} would be forgotten.`
    case 'window_lost':
      return `${lossText(gap.cause)} between ${timeText(gap.fromAt)} and ${timeText(gap.toAt)}: a run before that may be lost.`
    case 'window_unreachable':
      return 'Its window can not be asked now.'
    case 'keys_forgotten':
      return `A run before ${timeText(completeSince)} may be forgotten, as retention says.`
  }
}
