import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The repository's top folder. */
export const top = fileURLToPath(new URL('../..', import.meta.url))

/** A fenced block of a page. */
export type Block = {
  language: string
  /** What stands behind the language. */
  tag: string
  text: string
  /** Of its first line within the page. */
  line: number
}

/** The text of a page and its fenced blocks, in order; `path` from the top folder. */
export function readPage(path: string): { text: string; blocks: Block[] } {
  const text = readFileSync(`${top}/${path}`, 'utf8')
  const blocks: Block[] = []
  let open: Block | undefined
  for (const [index, line] of text.split('\n').entries()) {
    const fence = /^```(\S*) ?(.*)$/.exec(line)
    if (fence === null) {
      if (open !== undefined) open.text += `${line}\n`
    } else if (open === undefined) {
      open = { language: fence[1] ?? '', tag: fence[2] ?? '', text: '', line: index + 2 }
    } else {
      blocks.push(open)
      open = undefined
    }
  }
  if (open !== undefined) throw new Error(`${path}:${open.line} is never closed`)
  return { text, blocks }
}
