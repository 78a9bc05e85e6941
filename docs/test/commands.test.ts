import { rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { passableFolder, type Service, startService } from '../../packages/sdk/test/start-service.ts'
import { readPage, top } from './read-page.ts'
import { runTypeScript } from './run-typescript.ts'
import { openShell } from './shell-session.ts'

/** Where pages say the service is. */
const writtenUrl = 'http://127.0.0.1:8080'

/** A folder as a clone is after `npm start`: the data in `.ranbook`, and the service running. */
async function startedClone(): Promise<{ folder: string; service: Service }> {
  const folder = await passableFolder()
  for (const name of ['apps', 'docs', 'examples', 'packages', 'scripts'])
    await symlink(join(top, name), join(folder, name))
  const service = await startService({ dataDir: join(folder, '.ranbook') })
  onTestFinished(async () => {
    await service.remove()
    await rm(folder, { recursive: true })
  })
  return { folder, service }
}

/** Runs what a page says, in order, and resolves to what each block printed. */
async function runPage(path: string, folder: string, service: Service): Promise<string[]> {
  const env = { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`, HOME: folder, LC_ALL: 'C.UTF-8' }
  const shell = openShell(folder, env)
  onTestFinished(() => shell.end())
  const printed: string[] = []
  for (const { language, tag, text, line } of readPage(path).blocks) {
    const here = text.replaceAll(writtenUrl, service.url)
    // The service that the test started; that this command starts it is shown by the tests of the process.
    if (here === 'npm start\n') continue
    if (language === 'sh') {
      if (tag === 'stopped') await service.stop()
      printed.push(
        await shell.run(here).catch((error: unknown) => {
          throw new Error(`${path}:${line} does not work`, { cause: error })
        }),
      )
      if (tag === 'stopped') await service.start()
    } else if (language === 'ts') {
      printed.push(await runTypeScript(folder, here, { ...env, RANBOOK_KEY: service.key }))
    }
  }
  return printed
}

test('every command of the README works as it stands there, and tells what the README says it tells', async () => {
  const { folder, service } = await startedClone()
  const [claimed, completed, duplicate, asked, ...rest] = await runPage('README.md', folder, service)
  expect(JSON.parse(claimed ?? '')).toMatchObject({ outcome: 'claimed', key: 'order:88:refund' })
  expect(JSON.parse(completed ?? '')).toMatchObject({ state: 'completed', result: { refund: 're_1' } })
  expect(JSON.parse(duplicate ?? '')).toMatchObject({ outcome: 'duplicate', result: { refund: 're_1' } })
  expect(JSON.parse(asked ?? '')).toMatchObject({ verdict: 'ran', records: [{ matched: 'reference' }] })
  expect(rest).toEqual([''])
  const lookup = await fetch(`${service.url}/v1/lookup?q=order:89`, {
    headers: { authorization: `Bearer ${service.key}` },
  })
  expect(await lookup.json()).toMatchObject({ verdict: 'ran' })
})

test('the example in the SDK’s README compiles and refunds once', async () => {
  const { folder, service } = await startedClone()
  expect(await runPage('packages/sdk/README.md', folder, service)).toEqual(['acknowledge acknowledge\n'])
  const list = await fetch(`${service.url}/v1/records`, { headers: { authorization: `Bearer ${service.key}` } })
  expect(await list.json()).toMatchObject({ data: [{ key: 'order:90:refund', state: 'completed', attempt: 1 }] })
})

test('every command for operators works as it stands there, and a copy of the stopped folder is a backup', async () => {
  const { folder, service } = await startedClone()
  await letOneBeHeld(service)
  const printed = (await runPage('docs/operations.md', folder, service)).join('')
  for (const wanted of [
    '"status":"ok"',
    '"ready":true',
    '"secret":"rbk_',
    '"name":"billing-worker"',
    '"lease_ms":30000',
    '"lease_ms":45000',
    '"version":2',
    '"verdict":"never"',
    '"state":"held"',
    '"result":{"payout": "po_71"}',
    '"needs_approval":false',
    '"may_run_again":0',
    'ranbook_claims_total',
  ]) {
    expect(printed).toContain(wanted)
  }

  const restored = await startService({ dataDir: join(folder, 'ranbook-backup') })
  onTestFinished(() => restored.remove())
  expect(restored.key).toBe(service.key)
  const answer = await fetch(`${restored.url}/v1/lookup?q=payout:71`, {
    headers: { authorization: `Bearer ${restored.key}` },
  })
  expect(await answer.json()).toMatchObject({ verdict: 'held' })
})

/** A claim under `hold` whose owner fell silent. */
async function letOneBeHeld(service: Service): Promise<void> {
  const call = (method: string, path: string, body?: unknown) =>
    fetch(`${service.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${service.key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  await call('PUT', '/v1/classes/payout.sent', { on_lease_expiry: 'hold', lease_ms: 1000 })
  await call('POST', '/v1/claims', { class: 'payout.sent', consumer: 'treasury', key: 'payout:71' })
  const held = async () =>
    ((await (await call('GET', '/v1/records?state=held')).json()) as { data: unknown[] }).data.length
  await expect.poll(held, { timeout: 20_000 }).toBe(1)
}
