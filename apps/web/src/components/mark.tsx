import type { ReactNode } from 'react'
import { shapes } from './shapes.ts'

export type Tone = 'good' | 'live' | 'warn' | 'bad' | 'plain'

/** A word with a shape and a colour that mean the same. */
export function Mark({ shape, tone, children }: { shape: keyof typeof shapes; tone: Tone; children: ReactNode }) {
  return (
    <span className={`mark ${tone}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <path d={shapes[shape]} />
      </svg>
      {children}
    </span>
  )
}
