import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { deliverThrice } from './deliver.ts'
import { githubDeliveries } from './github-deliveries.ts'
import { openPlaces } from './open-places.ts'
import { type Settings, settingsEnvironment } from './settings.ts'

// Real GitHub webhooks, each delivered three times, concurrently and shuffled, to a receiver that is killed in the
// middle. Passes only if there are as many effects as distinct deliveries, and the kill met some of them half done.
// `--fresh-keys` makes the receiver's effect ignore the claim's idempotency key: then it must fail.

const receiverFile = fileURLToPath(new URL('./receiver.js', import.meta.url))

const places = await openPlaces(process.env)
const settings: Settings = { ...places, freshKeys: process.argv.includes('--fresh-keys') }
const sql = postgres({ ...places.effects, max: 1 })
let receiver = await startReceiver()
try {
  const deliveries = githubDeliveries()

  let killed: Promise<string> | undefined
  const report = await deliverThrice(`http://127.0.0.1:${places.receiverPort}/github`, deliveries, (answered) => {
    if (answered >= deliveries.length) killed ??= killAndRestart()
  })
  const endedBy = await killed

  const [counts] = await sql<{ effects: number; calls: number }[]>`
    select (select count(*)::int from effect) as effects, (select count(*)::int from effect_call) as calls`
  const { effects = 0, calls = 0 } = counts ?? {}
  const claims = await countClaims()
  console.log(`deliveries   ${deliveries.length} distinct, each delivered three times`)
  console.log(
    `requests     ${report.ran + report.duplicates} answered, ${report.lost} lost, ${report.busy} told to come again`,
  )
  console.log(`killed       the receiver, by ${endedBy}, ${calls - deliveries.length} deliveries half done`)
  console.log(`claims       ${claims.get('claimed')} granted, ${claims.get('in_progress') ?? 0} in progress elsewhere`)
  console.log(`duplicates   ${claims.get('duplicate') ?? 0}`)
  console.log(`effect calls ${calls}`)
  console.log(`effects      ${effects}`)
  const faults = [
    ...(effects === deliveries.length ? [] : [`${effects} effects of ${deliveries.length} deliveries`]),
    ...(endedBy === 'SIGKILL' && calls > deliveries.length ? [] : ['the kill met no delivery half done']),
  ]
  console.log(faults.length === 0 ? 'PASSED: one effect per delivery' : `FAILED: ${faults.join('; ')}`)
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  receiver.kill('SIGKILL')
  await sql.end()
  await places.close()
}

/** Resolves to what ended the receiver, when the next one listens. */
async function killAndRestart(): Promise<string> {
  const ended = once(receiver, 'exit')
  receiver.kill('SIGKILL')
  const [, signal] = await ended
  receiver = await startReceiver()
  return String(signal)
}

async function startReceiver(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [receiverFile], {
    env: { ...process.env, ...settingsEnvironment(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  if (!Buffer.isBuffer(first)) throw new Error('the receiver could not be started; see above')
  return child
}

/** Claims that the service answered, by outcome. */
async function countClaims(): Promise<Map<string, number>> {
  const response = await fetch(`${places.ranbookUrl}/metrics`, {
    headers: { authorization: `Bearer ${places.ranbookKey}` },
  })
  const lines = (await response.text()).matchAll(/^ranbook_claims_total\{outcome="(\w+)"\} (\d+)$/gm)
  return new Map([...lines].map(([, outcome, count]) => [outcome ?? '', Number(count)]))
}
