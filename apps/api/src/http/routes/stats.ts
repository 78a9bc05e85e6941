import { routes, type StatsStep, type StatsView } from '@ranbook/contract'
import { type ReadStatsDeps, readStats, type StatsStepAnswer } from '../../ledger/read-stats.ts'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { parseQuery } from '../parse-query.ts'
import { HttpProblem } from '../problem.ts'
import { timeText } from '../time-text.ts'
import { invalidRequest } from '../validate.ts'

/** `GET /v1/stats`: what happened, step by step. */
export function registerStats(serve: Serve, { stats, classes }: HttpDeps): void {
  const deps: ReadStatsDeps = { store: stats, now: () => classes.storeNow() }

  serve(routes.stats, async (call) => {
    const { from, to, step, class: className } = parseQuery(call, routes.stats.query)
    const answer = await readStats(deps, call.caller.scope, {
      from: from === undefined ? null : Date.parse(from),
      to: to === undefined ? null : Date.parse(to),
      stepMs: step ?? null,
      class: className ?? null,
    })
    switch (answer.kind) {
      case 'consumer_bound':
        throw new HttpProblem(
          'forbidden',
          'The API key is bound to one consumer; counts are over every consumer of a class. Ask for a key without a consumer.',
        )
      case 'refused':
        throw invalidRequest([answer.fault])
      case 'answered': {
        const view: StatsView = { class: className ?? null, step_ms: answer.stepMs, data: answer.steps.map(stepView) }
        return jsonAnswer(JSON.stringify(view))
      }
    }
  })
}

function stepView({ at, runMs, ...counts }: StatsStepAnswer): StatsStep {
  return { at: timeText(at), ...counts, run_ms: runMs }
}
