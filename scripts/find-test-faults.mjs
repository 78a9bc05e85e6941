import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles } from './list-files.mjs'
import { root } from './root.mjs'

// test('…', it("…", test.each(…)(`…`: the quote, then the name up to the same quote.
const testCall =
  /(?<![\w.$])(?:test|it)(?:\.(?:each|for|concurrent|sequential)(?:\([^()]*\)(?=\())?)*\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g

/**
 * Test files that vitest would not look at, and test names that stand more than once: a failing run must name one test.
 * @returns {string[]} one sentence each
 */
export function findTestFaults() {
  /** @type {string[]} */
  const faults = []
  /** @type {Map<string, string>} */
  const firstPlaces = new Map()
  for (const file of listFiles(['.test.ts', '.test.tsx'])) {
    if (!file.includes('/test/')) faults.push(`${file} is not run: tests live in their package's test folder.`)
    const text = readFileSync(join(root, file), 'utf8')
    for (const match of text.matchAll(testCall)) {
      const name = match[2] ?? ''
      const place = `${file}:${text.slice(0, match.index).split('\n').length}`
      const first = firstPlaces.get(name)
      if (first === undefined) firstPlaces.set(name, place)
      else faults.push(`${place} repeats the name of ${first}: "${name}"`)
    }
  }
  return faults
}
