import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../../../packages/sdk/test/start-service.ts'
import { auditPage } from './audit-page.ts'
import { clientOf, run } from './fill.ts'
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

test('a service that goes away leaves a banner and the last data with their age; when it is back, so is everything', async () => {
  await run(clientOf(service, 'mailer'), 'mail.welcome', 'user:1')
  const page = await openPage(browser, service.url)
  await page.goto(`${service.url}/?q=user:1#key=${service.key}`)
  await page.getByText('ran once').waitFor()
  await page.getByRole('row', { name: 'user:1' }).waitFor()

  await service.stop()
  const banner = page.getByRole('alert').getByText("can't be reached")
  await banner.waitFor()
  expect(await banner.textContent()).toMatch(/last answered (just now|\d+ (s|min) ago)\./)
  await page.getByText('not refreshed').waitFor()
  expect(await page.getByLabel('Service', { exact: true }).textContent()).toMatch(/unreachable[\s\S]+not known/)
  // What was known stays, to read and to ask about.
  expect(await page.getByRole('row', { name: 'user:1' }).count()).toBe(1)
  expect(await page.getByText('ran once').count()).toBe(1)
  expect(await auditPage(page)).toEqual([])

  await page.getByRole('textbox').fill('user:2')
  await page.getByRole('button', { name: 'Ask' }).click()
  await page.getByRole('button', { name: 'Try again' }).waitFor()

  await service.start()
  await run(clientOf(service, 'mailer'), 'mail.welcome', 'user:2')
  await banner.waitFor({ state: 'detached' })
  await page.getByRole('row', { name: 'user:2' }).waitFor()
  await page.getByText('not refreshed').waitFor({ state: 'detached' })
  await page.getByText('mail.welcome "user:2" ran once').waitFor()
})

test('a store that does not answer is named, and the service is not called ready', async () => {
  const page = await openPage(browser, service.url)
  const body = { ready: false, stores: { postgres: { ok: false, note: 'embedded PostgreSQL does not answer' } } }
  await page.route('**/readyz', (route) => route.fulfill({ status: 503, json: body }))
  await page.goto(`${service.url}/#key=${service.key}`)
  await page.getByText('not ready').waitFor()
  expect(await page.getByLabel('Service', { exact: true }).textContent()).toMatch(
    /not ready[\d.]+postgresnot usable.*does not answer/,
  )
  expect(await auditPage(page)).toEqual([])
  await page.unroute('**/readyz')
  await page.getByText('answers').waitFor()
})
