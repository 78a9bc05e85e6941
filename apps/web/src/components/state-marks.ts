import type { RecordState, Verdict } from '@ranbook/contract'
import type { Tone } from './mark.tsx'
import type { shapes } from './shapes.ts'

/** How each state and verdict is shown. */
export const stateMarks: Readonly<
  Record<RecordState | Verdict, { word: string; shape: keyof typeof shapes; tone: Tone }>
> = {
  completed: { word: 'completed', shape: 'check', tone: 'good' },
  ran: { word: 'ran', shape: 'check', tone: 'good' },
  ran_again: { word: 'ran again', shape: 'checkTwice', tone: 'good' },
  ran_details_erased: { word: 'ran, details erased', shape: 'checkFaint', tone: 'good' },
  claimed: { word: 'running', shape: 'play', tone: 'live' },
  running: { word: 'running', shape: 'play', tone: 'live' },
  interrupted: { word: 'interrupted', shape: 'warning', tone: 'warn' },
  held: { word: 'held', shape: 'pause', tone: 'warn' },
  failed: { word: 'failed', shape: 'again', tone: 'warn' },
  dead: { word: 'dead', shape: 'cross', tone: 'bad' },
  ready: { word: 'ready', shape: 'ring', tone: 'plain' },
  skipped: { word: 'skipped', shape: 'skip', tone: 'plain' },
  never: { word: 'never ran', shape: 'nothing', tone: 'plain' },
  unknown: { word: 'unknown', shape: 'question', tone: 'warn' },
}
