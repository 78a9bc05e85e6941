import { useSyncExternalStore } from 'react'

const parameter = 'q'

/** The question in the address: a link to it shows the same, and the browser's Back goes to the one before. */
export function useQuestion(): string {
  return useSyncExternalStore(onChange, () => new URLSearchParams(location.search).get(parameter) ?? '')
}

/** The page's address with this question; empty: with none. */
export function questionHref(question: string): string {
  return question === '' ? location.pathname : `${location.pathname}?${new URLSearchParams({ [parameter]: question })}`
}

/** Puts the question into the address, and asks it thereby. */
export function goToQuestion(question: string): void {
  history.pushState(null, '', questionHref(question))
  window.dispatchEvent(new PopStateEvent('popstate'))
}

function onChange(notify: () => void): () => void {
  window.addEventListener('popstate', notify)
  return () => window.removeEventListener('popstate', notify)
}
