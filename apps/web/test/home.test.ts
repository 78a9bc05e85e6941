import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../../../packages/sdk/test/start-service.ts'
import { callAsAdmin, clientOf, run } from './fill.ts'
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

function signIn(question = ''): string {
  return `${service.url}/${question === '' ? '' : `?${new URLSearchParams({ q: question })}`}#key=${service.key}`
}

test('the sign-in link signs in, and the key is gone from the address and the history at once', async () => {
  const page = await openPage(browser, service.url)
  await page.goto(signIn('order:1'))
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  expect(page.url()).toBe(`${service.url}/?q=order%3A1`)
  expect(await page.evaluate(() => history.length)).toBe(2)
  await page.reload()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
})

test('a sign-in link opened where the page stands already signs in too', async () => {
  const page = await openPage(browser, service.url)
  await page.goto(service.url)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.goto(signIn())
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  expect(page.url()).toBe(`${service.url}/`)
})

test('a key typed in signs in for this tab alone, and signing out forgets it', async () => {
  const page = await openPage(browser, service.url)
  await page.goto(service.url)
  const field = page.getByLabel('API key', { exact: true })
  await field.fill(` ${service.key}\t`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Did this ever run?').waitFor()
  const other = await page.context().newPage()
  await other.goto(service.url)
  await other.getByRole('heading', { name: 'Sign in' }).waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await field.waitFor()
  expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie]))).toBe(
    '[{},{},""]',
  )
})

test('a key that does not exist is said to be refused, and another one can be given', async () => {
  const page = await openPage(browser, service.url)
  await page.goto(`${service.url}/#key=rbk_no_such_key`)
  await page.getByRole('heading', { name: 'This key is not accepted' }).waitFor()
  await page.getByRole('button', { name: 'Use another key' }).click()
  await page.getByLabel('API key', { exact: true }).waitFor()
})

test('service, version and stores are shown to everybody', async () => {
  const page = await openPage(browser, service.url)
  await page.goto(service.url)
  await page.getByLabel('Service', { exact: true }).getByText('ready').waitFor()
  expect(await page.getByLabel('Service', { exact: true }).textContent()).toMatch(
    /serviceready\d+\.\d+\.\d+postgresanswersembedded PostgreSQL/,
  )
})

test('where nothing was claimed the page says how to make the first claim, and a claim appears without a reload', async () => {
  const empty = await startService()
  try {
    const page = await openPage(browser, empty.url)
    await page.goto(`${empty.url}/#key=${empty.key}`)
    await page.getByText(`curl -sS ${empty.url}/v1/claims`).waitFor()
    const mailer = clientOf(empty, 'mailer')
    const claim = await mailer.claim({ class: 'mail.welcome', key: 'user:7' })
    const row = page.getByRole('row', { name: 'user:7' })
    await row.getByText('running').waitFor()
    if (claim.outcome === 'claimed') await mailer.complete(claim)
    await row.getByText('completed').waitFor()
  } finally {
    await empty.remove()
  }
})

test('a question is answered with a verdict and a sentence, stands in the address, and a link to it shows the same', async () => {
  const billing = clientOf(service, 'billing-worker')
  await run(billing, 'refund.issued', 'order:88:refund', ['order:88'])
  const page = await openPage(browser, service.url)
  await page.goto(signIn())
  await page.getByRole('textbox').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('order:88')
  await page.keyboard.press('Enter')
  const answer = page.getByRole('article', { name: 'Answer' })
  await answer.getByText('refund.issued "order:88:refund" ran once: billing-worker completed it').waitFor()
  expect(await answer.getByRole('status').textContent()).toMatch(/^ranrefund.issued/)
  expect(await answer.textContent()).toMatch(/found byreference/)
  expect(page.url()).toBe(`${service.url}/?q=order%3A88`)

  const colleague = await openPage(browser, service.url)
  await colleague.goto(`${page.url()}#key=${service.key}`)
  await colleague.getByText('ran once: billing-worker').waitFor()
  expect(await colleague.getByRole('textbox').inputValue()).toBe('order:88')
})

test('a key in the list leads to its answer, and the browser’s Back to where it was', async () => {
  await run(clientOf(service, 'mailer'), 'mail.welcome', 'user:8')
  const page = await openPage(browser, service.url)
  await page.goto(signIn())
  await page.getByRole('link', { name: 'user:8' }).click()
  await page.getByText('mail.welcome "user:8" ran once').waitFor()
  await page.goBack()
  await page.getByRole('article').waitFor({ state: 'detached' })
  expect(await page.getByRole('textbox').inputValue()).toBe('')
})

test('“never ran” says what it rests on, and that spaces were asked for too', async () => {
  await run(clientOf(service, 'mailer'), 'mail.welcome', 'user:9')
  const page = await openPage(browser, service.url)
  await page.goto(signIn('user:9 '))
  const answer = page.getByRole('article', { name: 'Answer' })
  await answer.getByText('never ran', { exact: true }).waitFor()
  await answer.getByText('complete since').first().waitFor()
  await answer.getByRole('link', { name: 'Ask without them' }).click()
  await answer.getByText('mail.welcome "user:9" ran once').waitFor()
})

test('a question the service refuses says why', async () => {
  const page = await openPage(browser, service.url)
  await page.goto(signIn('k'.repeat(1025)))
  await page.getByRole('alert').getByText('1024').waitFor()
  await page.getByRole('button', { name: 'Try again' }).waitFor()
})

test('the sentence can be copied', async () => {
  await run(clientOf(service, 'mailer'), 'mail.welcome', 'user:10')
  const page = await openPage(browser, service.url, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(signIn('user:10'))
  await page.getByRole('button', { name: 'Copy the sentence' }).click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  expect(copied).toMatch(/^mail\.welcome "user:10" ran once: .+\.$/)
})

test('a key that may only claim can ask about its own, and is told why it sees no list', async () => {
  await run(clientOf(service, 'mailer'), 'mail.welcome', 'user:11')
  const created = (await callAsAdmin(service, 'POST', '/v1/api-keys', {
    name: 'mailer’s key',
    scopes: { actions: ['claim'], classes: ['mail.*'], consumer: 'mailer' },
  })) as { secret: string }
  const page = await openPage(browser, service.url)
  await page.goto(`${service.url}/?q=user:11#key=${created.secret}`)
  await page.getByText('mail.welcome "user:11" ran once').waitFor()
  await page.getByText('needs the action read').waitFor()
  await page.getByText('mailer’s key').waitFor()
})
