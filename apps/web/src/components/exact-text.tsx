import { createElement, type ReactNode } from 'react'

/**
 * What draws nothing of its own, or turns the direction of writing. Between two parts of an emoji a joiner is part of
 * the picture.
 */
const unseen =
  /((?<!\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F)\u200D|(?!\u200D)\p{Cf}|[\p{Zl}\p{Zp}\u00A0\u115F\u1160\u2800\u3164])/u

/**
 * A text from outside, character by character: isolated, so that no mark in it turns the words around it, and with what
 * can't be seen named by its code point. Selected and copied, it is the text itself.
 */
export function ExactText({ text }: { text: string }) {
  // Split at a captured expression, every second part is a match.
  const parts = text.split(unseen).map((part, index) => (index % 2 === 0 ? part : named(part)))
  return createElement('bdi', { className: 'exact' }, ...parts)
}

function named(character: string): ReactNode {
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  return (
    <span className="unseen" data-code={`U+${code}`}>
      {character}
    </span>
  )
}
