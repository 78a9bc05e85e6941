import type { MouseEvent, ReactNode } from 'react'
import { goToQuestion, questionHref } from '../../address/use-question.ts'

/** A link that asks: followed here without a new page, and an ordinary link for every other way to open one. */
export function QuestionLink({ question, children }: { question: string; children: ReactNode }) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    goToQuestion(question)
    scrollTo({ top: 0 })
  }
  return (
    <a href={questionHref(question)} onClick={follow}>
      {children}
    </a>
  )
}
