const slot = 'ranbook.key'

/**
 * The API key this tab works with: from the address's fragment (`#key=…`, as the start prints it), else from an earlier
 * visit of this tab. The fragment is removed at once, so that the key stays out of history and bookmarks.
 */
export function takeCredential(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get('key')
  if (given !== null) {
    history.replaceState(null, '', location.pathname + location.search)
    if (isCredential(given)) keepCredential(given)
  }
  return sessionStorage.getItem(slot)
}

/** Could it be a key at all? Anything else could not even be sent. */
export function isCredential(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text)
}

/** Keeps the key until the tab is closed; null forgets it. */
export function keepCredential(key: string | null): void {
  if (key === null) sessionStorage.removeItem(slot)
  else sessionStorage.setItem(slot, key)
}
