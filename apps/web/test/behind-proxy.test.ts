import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Service, startService } from '../../../packages/sdk/test/start-service.ts'
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

const prefix = '/tools/ranbook'

/** A proxy that serves the service below a path, as one rule of any proxy does, and nothing else. */
async function proxyBelowPath(): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method = 'GET', url = '', headers } = incoming
    if (!url.startsWith(`${prefix}/`)) return void outgoing.writeHead(404).end()
    const onward = request(`${service.url}${url.slice(prefix.length)}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await once(proxy, 'close')
  })
  const address = proxy.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  return `http://127.0.0.1:${address.port}`
}

test('the page works below a path that a proxy strips, docs included', async () => {
  const origin = await proxyBelowPath()
  await run(clientOf(service, 'mailer'), 'mail.welcome', 'user:1')
  const page = await openPage(browser, origin)
  await page.goto(`${origin}${prefix}/?q=user:1#key=${service.key}`)
  await page.getByText('mail.welcome "user:1" ran once').waitFor()
  await page.getByRole('row', { name: 'user:1' }).waitFor()
  expect(page.url()).toBe(`${origin}${prefix}/?q=user:1`)
  await page.getByRole('link', { name: 'API docs' }).click()
  await page.getByText('Claim a key: 201 run it').waitFor()
})
