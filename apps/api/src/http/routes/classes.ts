import {
  type ClassChange,
  type ClassDocument,
  type ClassRow,
  classPutSchema,
  classReviewSchema,
  limits,
  type Policy,
  routes,
} from '@ranbook/contract'
import { type PolicyChange, shownPolicy } from '@ranbook/rules'
import { checkTarget } from '../../delivery/check-target.ts'
import type { TargetRules } from '../../delivery/target-rules.ts'
import type { ClassBook, ClassView, Editor, OwnPolicy } from '../../ledger/class-book.ts'
import { jsonAnswer } from '../answer.ts'
import { type Call, requestHeader, type Serve } from '../call.ts'
import type { HttpDeps } from '../http-deps.ts'
import { matchesVersion, parseIfMatch, versionTag } from '../if-match.ts'
import { parseQuery } from '../parse-query.ts'
import { HttpProblem } from '../problem.ts'
import { hasBody, readJsonBody } from '../read-body.ts'
import { decodeTextCursor, encodeTextCursor, invalidCursor } from '../text-cursor.ts'
import { timeText } from '../time-text.ts'
import { validate } from '../validate.ts'
import { timeOrNull } from '../write-record-file.ts'
import { readableName, writableName } from './class-name.ts'

/** `/v1/classes`: the policies in force, their changes, and which classes a person has looked at. */
export function registerClasses(serve: Serve, { classes, targets }: HttpDeps): void {
  serve(routes.listClasses, async (call) => {
    const { limit = limits.pageDefaultItems, cursor } = parseQuery(call, routes.listClasses.query)
    const found = await classes.list(call.caller.scope, decodeTextCursor(cursor), limit + 1)
    const page = found.slice(0, limit)
    const last = found.length > limit ? page.at(-1) : undefined
    const next_cursor = last === undefined ? null : encodeTextCursor(last.name)
    return jsonAnswer(JSON.stringify({ data: page.map(classRow), next_cursor }))
  })

  serve(routes.getClass, async (call) => {
    const view = await classes.get(call.caller.scope, readableName(call))
    return classAnswer(view)
  })

  serve(routes.putClass, async (call) => {
    const name = writableName(call)
    const { policy, reason, acceptShortRetention } = validate(classPutSchema, await readJsonBody(call))
    refuseTarget(targets, policy)
    const expected = await expectedVersion(classes, call, name)
    const outcome = await classes.put(
      name,
      policy,
      { expectedVersion: expected, acceptShort: acceptShortRetention },
      editorOf(call, reason),
    )
    switch (outcome.kind) {
      case 'refused':
        throw new HttpProblem(outcome.fault.code, outcome.fault.detail)
      case 'stale':
        throw stale(outcome.version)
      case 'stored': {
        const view = { name, matched: name, reviewed: true, own: outcome.own, inForce: outcome.policy }
        return classAnswer(view, outcome.created ? 201 : 200)
      }
    }
  })

  serve(routes.deleteClass, async (call) => {
    const { reason } = parseQuery(call, routes.deleteClass.query)
    const name = writableName(call)
    const outcome = await classes.remove(
      name,
      await expectedVersion(classes, call, name),
      editorOf(call, reason ?? null),
    )
    switch (outcome.kind) {
      case 'absent':
        throw new HttpProblem('not_found', 'The class has no policy of its own.')
      case 'stale':
        throw stale(outcome.version)
      case 'removed':
        return { status: 204, headers: {}, body: null }
    }
  })

  serve(routes.classHistory, async (call) => {
    const { limit = limits.pageDefaultItems, cursor } = parseQuery(call, routes.classHistory.query)
    const changes = await classes.history(readableName(call), versionOfCursor(cursor), limit + 1)
    const page = changes.slice(0, limit)
    const last = changes.length > limit ? page.at(-1) : undefined
    const next_cursor = last === undefined ? null : encodeTextCursor(String(last.version))
    return jsonAnswer(JSON.stringify({ data: page.map(classChange), next_cursor }))
  })

  serve(routes.reviewClass, async (call) => {
    const name = writableName(call)
    const { reason } = validate(classReviewSchema, hasBody(call) ? await readJsonBody(call) : {})
    const view = await classes.review(name, editorOf(call, reason ?? null))
    if (view === null) throw new HttpProblem('not_found', 'No claim of this class was seen, and it has no policy.')
    return classAnswer(view)
  })
}

/** A literal address is judged for good; a name again at each delivery. */
function refuseTarget(targets: TargetRules, { replay_target }: Policy): void {
  if (replay_target === null) return
  const check = checkTarget(targets, replay_target.url)
  if (check.kind === 'refused') throw new HttpProblem('target_refused', check.reason)
}

type ShownClass = Omit<ClassView, 'consumers' | 'firstSeenAt'>

function classAnswer(view: ShownClass, status = 200) {
  const headers = view.own === null ? undefined : { etag: versionTag(view.own.version) }
  return jsonAnswer(JSON.stringify(classDocument(view)), status, headers)
}

function classDocument({ name, matched, reviewed, own, inForce }: ShownClass): ClassDocument {
  return { name, ...ownFields(own), matched, reviewed, ...shownPolicy(inForce) }
}

function ownFields(own: OwnPolicy | null): Pick<ClassDocument, 'version' | 'updated_at' | 'updated_by'> {
  if (own === null) return { version: null, updated_at: null, updated_by: null }
  return { version: own.version, updated_at: timeText(own.updatedAt), updated_by: own.updatedBy }
}

function classRow(view: ClassView): ClassRow {
  return { ...classDocument(view), consumers: view.consumers, first_seen_at: timeOrNull(view.firstSeenAt) }
}

function classChange({ version, policy, diff, at, by, reason }: PolicyChange): ClassChange {
  return { version, policy, diff, at: timeText(at), by, reason }
}

/**
 * The version that `If-Match` lets a change go over, null without the header. Judged by the version that stands now; a
 * change in between is then noticed by the write itself. Throws 412.
 */
async function expectedVersion(classes: ClassBook, call: Call, name: string): Promise<number | null> {
  const ifMatch = parseIfMatch(requestHeader(call.context, 'if-match'))
  if (ifMatch === null) return null
  const { own } = await classes.get(call.caller.scope, name)
  const version = own?.version ?? null
  if (version === null || !matchesVersion(ifMatch, version)) throw stale(version)
  // `*` is content with whatever version the write meets.
  return ifMatch === 'any' ? null : version
}

function stale(version: number | null): HttpProblem {
  const stands = version === null ? 'It has no policy of its own' : `Version ${version} stands`
  return new HttpProblem('precondition_failed', `${stands}. Read the class again and repeat the change.`)
}

function editorOf(call: Call, reason: string | null): Editor {
  return { actor: call.caller.actor, reason, requestId: call.requestId }
}

function versionOfCursor(cursor: string | undefined): number | null {
  const text = decodeTextCursor(cursor)
  if (text === null) return null
  if (!/^\d{1,9}$/.test(text)) throw invalidCursor()
  return Number(text)
}
