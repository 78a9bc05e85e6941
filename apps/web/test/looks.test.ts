import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Service, startService } from '../../../packages/sdk/test/start-service.ts'
import { auditPage, overflow } from './audit-page.ts'
import { fillEveryState } from './fill.ts'
import { openBrowser, openPage } from './open-browser.ts'

// Pictures for people to look at.
const pictures = fileURLToPath(new URL('../node_modules/.cache/pictures/', import.meta.url))

let service: Service
let browser: Browser

beforeAll(async () => {
  ;[service, browser] = await Promise.all([startService(), openBrowser(), mkdir(pictures, { recursive: true })])
  await fillEveryState(service)
})
afterAll(async () => {
  await browser?.close()
  await service?.remove()
})

const windows = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'narrow-dark', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const

test.each(windows)(
  'every state has its word and its own shape, axe finds nothing, and nothing is cut off: $name',
  async (window) => {
    const page = await openPage(browser, service.url, window)
    await page.goto(`${service.url}/?q=order:88#key=${service.key}`)
    const marks = page.locator('td.state .mark')
    const words = ['completed', 'dead', 'failed', 'held', 'interrupted', 'ready', 'running', 'skipped']
    // The leases of two claims have to run out first.
    await expect
      .poll(async () => [...new Set(await marks.allTextContents())].toSorted(), { timeout: 20_000 })
      .toEqual(words)
    await page.getByRole('article').getByText('held', { exact: true }).waitFor({ timeout: 20_000 })
    const shapes = await marks.evaluateAll((all) =>
      all.map((mark) => `${mark.textContent} ${mark.querySelector('path')?.getAttribute('d')}`),
    )
    expect(new Set(shapes).size).toBe(words.length)
    expect(new Set(shapes.map((shape) => shape.slice(shape.indexOf(' ')))).size).toBe(words.length)

    await page.screenshot({ path: join(pictures, `home-${window.name}.png`), fullPage: true })
    expect(await auditPage(page)).toEqual([])
    expect(await overflow(page)).toBe(0)
  },
)

test.each(windows)('signing in, an empty answer and a refusal please axe too: $name', async (window) => {
  const page = await openPage(browser, service.url, window)
  await page.goto(service.url)
  await page.getByLabel('API key', { exact: true }).waitFor()
  await page.getByText('answers').waitFor()
  expect(await auditPage(page)).toEqual([])
  expect(await overflow(page)).toBe(0)
  await page.screenshot({ path: join(pictures, `sign-in-${window.name}.png`) })

  await page.goto(`${service.url}/?q=nothing%20like%20it#key=${service.key}`)
  await page.reload()
  await page.getByText('never ran', { exact: true }).waitFor()
  expect(await auditPage(page)).toEqual([])
  expect(await overflow(page)).toBe(0)

  await page.goto(`${service.url}/?q=${'k'.repeat(1025)}`)
  await page.getByRole('alert').waitFor()
  expect(await auditPage(page)).toEqual([])
  expect(await overflow(page)).toBe(0)
})
