import type { ReactNode } from 'react'

const marks = { good: '●', warn: '▲', bad: '■' } as const

/** A word with a shape and a colour that mean the same. */
export function Status({ tone, children }: { tone: keyof typeof marks; children: ReactNode }) {
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{marks[tone]}</span> {children}
    </span>
  )
}
