import { useState } from 'react'

/** Puts a text on the clipboard and says so. Absent where the browser has none: on plain http from another machine. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [last, setLast] = useState<{ text: string; worked: boolean } | null>(null)
  if (!('clipboard' in navigator)) return null
  const copy = async () => {
    const worked = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    setLast({ text, worked })
  }
  return (
    <button type="button" className="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{last?.text !== text ? label : last.worked ? 'Copied' : 'The browser refused'}</span>
    </button>
  )
}
