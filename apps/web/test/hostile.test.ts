import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../../../packages/sdk/test/start-service.ts'
import { overflow } from './audit-page.ts'
import { clientOf } from './fill.ts'
import { openBrowser, openPage } from './open-browser.ts'

let service: Service
let browser: Browser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startService(), openBrowser()])
})
afterAll(async () => {
  await browser?.close()
  await service?.remove()
})

const hostile = [
  `<img src=x onerror="document.title='taken'">`,
  `"><script>document.title='taken'</script>`,
  '\u202Edesrever\u202C then on',
  'שלום:88:עולם',
  'zero\u200Bwidth\u00A0space',
  '👩‍👩‍👧 family',
  '../../v1/api-keys?x=1#y%2F',
  '  outer  spaces  ',
  '__proto__',
  'k'.repeat(1024),
]

test.each(['light', 'dark'] as const)(
  'hostile keys, names and errors are shown as the text they are, in a %s window 390 px wide',
  async (colorScheme) => {
    for (const key of hostile) {
      const name = key.slice(0, 60).replaceAll('*', '')
      const ranbook = clientOf(service, name)
      const claim = await ranbook.claim({ class: name, key, refs: ['hostile'], owner: name })
      if (claim.outcome === 'claimed') await ranbook.fail(claim, { message: key })
    }
    const page = await openPage(browser, service.url, { colorScheme, viewport: { width: 390, height: 844 } })
    await page.goto(`${service.url}/?q=hostile#key=${service.key}`)
    await page.getByRole('row').nth(hostile.length).waitFor()
    await page.getByRole('article').waitFor()
    const links = page.locator('td.key a')
    expect((await links.allTextContents()).toSorted()).toEqual(hostile.toSorted())
    const answered = page.locator('article .facts .key bdi')
    expect((await answered.allTextContents()).toSorted()).toEqual(hostile.toSorted())
    expect(await page.locator('img, main script').count()).toBe(0)
    expect(await page.title()).toBe('Ranbook')
    expect(await overflow(page)).toBe(0)
  },
)

test('what can not be seen in a key is named by its code point', async () => {
  const ranbook = clientOf(service, 'tester')
  await ranbook.claim({ class: 'unseen', key: 'a\u202Eb\u200Bc\u00A0d👩‍👩‍👧e' })
  const page = await openPage(browser, service.url)
  await page.goto(`${service.url}/#key=${service.key}`)
  const row = page.getByRole('row', { name: 'unseen' })
  await row.waitFor()
  expect(
    await row.locator('[data-code]').evaluateAll((marks) => marks.map((mark) => mark.getAttribute('data-code'))),
  ).toEqual(['U+202E', 'U+200B', 'U+00A0'])
})

test('each hostile key leads to its own answer', async () => {
  const page = await openPage(browser, service.url)
  await page.goto(`${service.url}/#key=${service.key}`)
  for (const key of hostile) {
    await page.getByRole('textbox').fill(key)
    await page.getByRole('button', { name: 'Ask' }).click()
    await page.waitForFunction((asked) => new URLSearchParams(location.search).get('q') === asked, key)
    const found = page.locator('article .facts .key bdi').first()
    await found.waitFor()
    expect(await found.textContent()).toBe(key)
  }
})
