import type { LookupView } from '@ranbook/contract'
import { CopyButton } from '../../components/copy-button.tsx'
import { ExactText } from '../../components/exact-text.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { stateMarks } from '../../components/state-marks.ts'
import { Time } from '../../components/time.tsx'
import { Coverage } from './coverage.tsx'
import { QuestionLink } from './question-link.tsx'
import { RecordFacts } from './record-facts.tsx'

/** A verdict, the sentence to pass on, then what each record says. */
export function Answer({ question, answer }: { question: string; answer: LookupView }) {
  const { verdict, sentence, records, more } = answer
  const bare = question.trim()
  return (
    <article className={`card answer edge-${stateMarks[verdict].tone}`} aria-label="Answer">
      <div className="finding lead" role="status">
        <StateMark state={verdict} />
        <p>
          <ExactText text={sentence} />
        </p>
      </div>
      {records.length === 0 && bare !== question && bare !== '' ? (
        <p>
          It was asked with the spaces around it. <QuestionLink question={bare}>Ask without them</QuestionLink>
        </p>
      ) : null}
      {records.map((record) => (
        <div className="finding" key={record.id}>
          {records.length === 1 ? <span className="muted">the record</span> : <StateMark state={record.verdict} />}
          <div className="found">
            {/* The record that decides has its sentence above. */}
            {sentence.includes(record.sentence.slice(0, -1)) ? null : (
              <p>
                <ExactText text={record.sentence} />
              </p>
            )}
            <RecordFacts record={record} />
          </div>
        </div>
      ))}
      {more ? (
        <p className="muted">More records match than are shown: name a class or a consumer in the API's lookup.</p>
      ) : null}
      <footer>
        <CopyButton text={sentence} label="Copy the sentence" />
        <span className="muted">
          Asked <Time at={answer.checked_at} />
        </span>
        <Coverage coverage={answer.coverage} />
      </footer>
    </article>
  )
}
