import type { Policy } from '@ranbook/contract'

/** A policy as answers, history and audit show it: whether there is a secret, never which. */
export type ShownPolicy = Omit<Policy, 'replay_target'> & { replay_target: { url: string; has_secret: boolean } | null }

/** The policy without its secret. */
export function shownPolicy(policy: Policy): ShownPolicy {
  const { replay_target } = policy
  if (replay_target === null) return { ...policy, replay_target }
  return { ...policy, replay_target: { url: replay_target.url, has_secret: replay_target.secret !== undefined } }
}
