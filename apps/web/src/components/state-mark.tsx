import type { RecordState, Verdict } from '@ranbook/contract'
import { Mark } from './mark.tsx'
import { stateMarks } from './state-marks.ts'

/** A state or verdict. */
export function StateMark({ state }: { state: RecordState | Verdict }) {
  const { word, shape, tone } = stateMarks[state]
  return (
    <Mark shape={shape} tone={tone}>
      {word}
    </Mark>
  )
}
