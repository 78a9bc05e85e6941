import type { RecordState, Verdict } from '@ranbook/contract'

/** Word, shape and tone of every state and verdict; the shape alone tells them apart without colour. */
const marks: Record<RecordState | Verdict, { word: string; shape: string; tone: string }> = {
  completed: { word: 'completed', shape: '✓', tone: 'good' },
  ran: { word: 'ran', shape: '✓', tone: 'good' },
  ran_again: { word: 'ran again', shape: '⟳', tone: 'good' },
  ran_details_erased: { word: 'ran, details erased', shape: '✓', tone: 'good' },
  claimed: { word: 'running', shape: '▶', tone: 'live' },
  running: { word: 'running', shape: '▶', tone: 'live' },
  interrupted: { word: 'interrupted', shape: '◪', tone: 'warn' },
  held: { word: 'held', shape: '‖', tone: 'warn' },
  failed: { word: 'failed', shape: '↻', tone: 'warn' },
  dead: { word: 'dead', shape: '✕', tone: 'bad' },
  ready: { word: 'ready', shape: '○', tone: 'plain' },
  skipped: { word: 'skipped', shape: '⤼', tone: 'plain' },
  never: { word: 'never ran', shape: '∅', tone: 'plain' },
  unknown: { word: 'unknown', shape: '?', tone: 'warn' },
}

/** A state or verdict by word, shape and colour. */
export function StateMark({ state }: { state: RecordState | Verdict }) {
  const { word, shape, tone } = marks[state]
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{shape}</span> {word}
    </span>
  )
}
