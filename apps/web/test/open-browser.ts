import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'

const names = ['chromium', 'chromium-browser', 'google-chrome']

// As root without a sandbox of its own; and silent, so that every request seen is the page's.
const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** The browser of this machine, as `npm test` makes sure there is one. */
export function openBrowser(): Promise<Browser> {
  const paths = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)))
  const executablePath = paths.find((path) => existsSync(path))
  if (executablePath === undefined) throw new Error(`none of ${names.join(', ')} is on the PATH`)
  return chromium.launch({ executablePath, args: flags })
}

/**
 * A fresh page for one test, without anything of the others. When the test is over nothing may have been asked of
 * another host, and nothing refused by the page's own policy or thrown in it.
 */
export async function openPage(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options })
  const faults: string[] = []
  const page = await context.newPage()
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) faults.push(`asked ${request.url()}`)
  })
  page.on('pageerror', (error) => faults.push(`threw ${error.message}`))
  page.on('console', (message) => {
    // What the policy refuses is an error here. So is a request that failed, which some tests cause on purpose.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) faults.push(message.text())
  })
  onTestFinished(async () => {
    await context.close()
    expect(faults).toEqual([])
  })
  return page
}
