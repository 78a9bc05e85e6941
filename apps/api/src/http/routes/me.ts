import { actions, type Me, routes } from '@ranbook/contract'
import { jsonAnswer } from '../answer.ts'
import type { Serve } from '../call.ts'

/** `GET /v1/me`: who is calling. */
export function registerMe(serve: Serve): void {
  serve(routes.me, (call) => {
    const { caller } = call
    const me: Me = {
      actor: caller.actor,
      name: caller.name,
      actions: actions.filter((action) => caller.actions.has(action)),
      classes: [...caller.scope.classes],
      consumer: caller.scope.consumer,
    }
    return jsonAnswer(JSON.stringify(me))
  })
}
