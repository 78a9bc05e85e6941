import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startService } from '../../packages/sdk/test/start-service.ts'
import { readPage, top } from './read-page.ts'

const pages = [
  'README.md',
  'bench/README.md',
  'docs/architecture.md',
  'docs/operations.md',
  'docs/windows.md',
  'examples/webhook-redelivery/README.md',
  'packages/sdk/README.md',
]

test.each(pages)('every link of %s within the repository leads somewhere', (page) => {
  const links = [...readPage(page).text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link]) => link ?? '')
  const own = links.filter((link) => !/^https?:/.test(link))
  expect(own.filter((link) => !existsSync(join(top, dirname(page), link)))).toEqual([])
})

test.each(pages)('every file that %s names exists', (page) => {
  const named = [
    ...readPage(page).text.matchAll(/`((?:apps|packages|bench|docs|drizzle|examples|scripts)\/[\w./-]+)`/g),
  ]
  const files = named.map(([, file]) => file ?? '').filter((file) => !/\/(dist|node_modules)\//.test(file))
  expect(files.filter((file) => !existsSync(join(top, file)))).toEqual([])
})

test('the table of variables lists every one that this version reads, and no other', () => {
  const { text } = readPage('docs/operations.md')
  const told = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name)
  const source = readFileSync(join(top, 'apps/api/src/config.ts'), 'utf8')
  const schema = source.slice(source.indexOf('const variables = z.object({'), source.indexOf('type Variable ='))
  const read = [...schema.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name)
  expect(read.length).toBeGreaterThan(5)
  expect(told.toSorted()).toEqual(read.toSorted())
})

test('every metric that operators are told of is there, and none of ours is left out', async () => {
  const service = await startService()
  try {
    const headers = { authorization: `Bearer ${service.key}` }
    const exposition = await (await fetch(`${service.url}/metrics`, { headers })).text()
    const there = [...exposition.matchAll(/^# TYPE (ranbook_\w+) /gm)].map(([, name]) => name)
    const told = [...readPage('docs/operations.md').text.matchAll(/`(ranbook_\w+)`/g)].map(([, name]) => name)
    expect([...new Set(told)].toSorted()).toEqual(there.toSorted())
  } finally {
    await service.remove()
  }
})

test('the picture in the README is small enough to be loaded with the page', () => {
  expect(statSync(join(top, 'docs/images/home.png')).size).toBeLessThan(200_000)
})
