import type { CoverageView } from '@ranbook/contract'
import { ExactText } from '../../components/exact-text.tsx'
import { Time } from '../../components/time.tsx'

/** What the answer rests on, class by class; folded, as there may be many. */
export function Coverage({ coverage }: { coverage: readonly CoverageView[] }) {
  if (coverage.length === 0) return null
  return (
    <details className="coverage">
      <summary>
        {coverage.length.toLocaleString()} {coverage.length === 1 ? 'class' : 'classes'} asked
      </summary>
      <ul>
        {coverage.map((part) => (
          <li key={`${part.store} ${part.class}`}>
            <ExactText text={part.class} />
            <span className="muted">
              {part.store}, complete since <Time at={part.complete_since} />
              {part.note === null ? '' : `. ${part.note}`}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
