import { isIP } from 'node:net'
import type { TargetRules } from './target-rules.ts'

/**
 * `allowed`: nothing speaks against it yet; a name is judged again at each delivery, on the addresses it leads to then.
 * `host`: without the brackets of IPv6. `refused`: the reason is a sentence that holds nothing secret.
 */
export type TargetCheck = { kind: 'allowed'; url: URL; host: string } | { kind: 'refused'; reason: string }

/**
 * May this address be a target of replays and alerts? It has to be http or https without a user, a password or a
 * fragment. A literal address is judged for good, whichever way it is written; a name as far as it can be unresolved.
 */
export function checkTarget(rules: TargetRules, text: string): TargetCheck {
  if (!URL.canParse(text)) return refused('The target is not a URL such as https://hooks.example.com/ranbook.')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refused('The target has to begin with https:// or http://.')
  }
  if (url.username !== '' || url.password !== '') {
    return refused('The target may not hold a user or a password: what is sent is signed with the secret.')
  }
  if (url.href.includes('#')) return refused('The target may not hold a fragment: what follows # is never sent.')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const reason = rules.refusal(host, isIP(host) === 0 ? [] : [host])
  return reason === null ? { kind: 'allowed', url, host } : refused(reason)
}

function refused(reason: string): TargetCheck {
  return { kind: 'refused', reason }
}
