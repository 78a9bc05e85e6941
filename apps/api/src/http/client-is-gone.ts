import type { Call } from './call.ts'

/** Has the client closed its connection? Nobody would hear the answer then. */
export function clientIsGone({ context }: Call): boolean {
  const { incoming, outgoing } = context.env ?? {}
  if (incoming === undefined || outgoing === undefined) return context.req.raw?.signal.aborted ?? false
  return outgoing.destroyed || incoming.socket.destroyed
}
