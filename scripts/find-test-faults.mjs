import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles } from './list-files.mjs'
import { root } from './root.mjs'

const testCall =
  /(?<![\w.$])(?:test|it)((?:\.(?:each|for|concurrent|sequential|fails|only|skip|todo|runIf|skipIf))*)\(/g
const quotedName = /\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/y

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
    for (const { name, line } of testsIn(readFileSync(join(root, file), 'utf8'))) {
      const first = firstPlaces.get(name)
      if (first === undefined) firstPlaces.set(name, `${file}:${line}`)
      else faults.push(`${file}:${line} repeats the name of ${first}: "${name}"`)
    }
  }
  return faults
}

/** @param {string} text */
function testsIn(text) {
  const tests = []
  for (const call of text.matchAll(testCall)) {
    const start = call.index + call[0].length
    // test.each(rows)('name', …): the name stands in the second pair of brackets.
    const table = /\.(each|for)$/.test(call[1] ?? '')
    quotedName.lastIndex = table ? afterBrackets(text, start) + 1 : start
    const name = quotedName.exec(text)?.[2]
    if (name !== undefined) tests.push({ name, line: text.slice(0, start).split('\n').length })
  }
  return tests
}

/**
 * The place after the bracket that closes the one before `start`.
 * @param {string} text
 * @param {number} start
 */
function afterBrackets(text, start) {
  let depth = 1
  let at = start
  for (; at < text.length && depth > 0; at += 1) {
    if (text[at] === '(') depth += 1
    if (text[at] === ')') depth -= 1
  }
  return at
}
