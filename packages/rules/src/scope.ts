import type { Action } from '@ranbook/contract'
import { policyCovers } from './policy.ts'

/** What a key may do: each action on each class its patterns cover, for one consumer or (null) for all. Default deny. */
export type KeyScopes = { actions: Action[]; classes: string[]; consumer: string | null }

/** What a caller may touch: classes by policy name or pattern, and one consumer or (null) all. */
export type Scope = { classes: readonly string[]; consumer: string | null }

/** Does a scope reach a class, or a pattern as a whole: `refund.*` covers itself and `refund.eu.*`, not `*`? */
export function coversClass(classes: readonly string[], name: string): boolean {
  return classes.some((pattern) => policyCovers(pattern, name))
}

/** May a caller of this scope see, claim and settle a record of this class and consumer? Outside looks like absent. */
export function coversRecord(scope: Scope, record: { class: string; consumer: string }): boolean {
  return (scope.consumer === null || scope.consumer === record.consumer) && coversClass(scope.classes, record.class)
}

/** Does the scope leave nothing out? */
export function seesEverything(scope: Scope): boolean {
  return scope.consumer === null && scope.classes.includes('*')
}

/**
 * What of `asked` goes beyond `own`, in words, or null where it lies within: actions and classes are all covered, and a
 * key of one consumer passes on that consumer only.
 */
export function findWidening(own: Scope & { actions: ReadonlySet<Action> }, asked: Readonly<KeyScopes>): string | null {
  const action = asked.actions.find((wanted) => !own.actions.has(wanted))
  if (action !== undefined) return `the action ${action}`
  const name = asked.classes.find((wanted) => !coversClass(own.classes, wanted))
  if (name !== undefined) return `the class ${name}`
  if (own.consumer === null || own.consumer === asked.consumer) return null
  return asked.consumer === null ? 'every consumer' : `the consumer ${asked.consumer}`
}
