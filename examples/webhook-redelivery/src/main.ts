import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { deliverThrice } from './deliver.ts'
import { githubDeliveries } from './github-deliveries.ts'
import { openPlaces } from './open-places.ts'
import { type Settings, settingsEnvironment } from './settings.ts'

// Real GitHub webhooks, each delivered three times, concurrently and shuffled, to a receiver that is killed in the
// middle. Passes only if there are as many effects as there are distinct deliveries.

const receiverFile = fileURLToPath(new URL(`./receiver${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url))

const places = await openPlaces(process.env)
const sql = postgres({ ...places.effects, max: 1, onnotice: () => {} })
let receiver: ChildProcess | undefined
try {
  await sql`create table effect (idempotency_key text primary key, event text, delivery text)`
  await sql`create table effect_call (delivery text)`

  const settings: Settings = { ...places, receiverPort: places.freePort }
  receiver = await startReceiver(settings)
  const deliveries = githubDeliveries()

  let killed: Promise<void> | undefined
  const report = await deliverThrice(`http://127.0.0.1:${places.freePort}/github`, deliveries, (answered) => {
    if (answered >= deliveries.length && killed === undefined) killed = killAndRestart(settings)
  })
  await killed

  const [counts] = await sql<{ effects: number; calls: number }[]>`
    select (select count(*)::int from effect) as effects, (select count(*)::int from effect_call) as calls`
  const claims = report.sent + report.lost + report.busy
  console.log(`deliveries   ${deliveries.length} distinct, sent ${report.sent} times, ${claims} requests with redeliveries`)
  console.log(`ran          ${report.ran}`)
  console.log(`duplicates   ${report.duplicates}`)
  console.log(`lost         ${report.lost} requests had no answer, as the receiver was killed with SIGKILL`)
  console.log(`not yet      ${report.busy} requests were asked to come again`)
  console.log(`effect calls ${counts?.calls} (a killed one is called again, with the same idempotency key)`)
  console.log(`effects      ${counts?.effects}`)
  const passed = counts?.effects === deliveries.length && report.lost > 0
  console.log(passed ? 'effects = distinct deliveries' : 'FAILED: effects and distinct deliveries differ, or nothing was killed')
  process.exitCode = passed ? 0 : 1
} finally {
  receiver?.kill('SIGKILL')
  await sql.end()
  await places.close()
}

async function killAndRestart(settings: Settings): Promise<void> {
  const gone = receiver
  if (gone === undefined) return
  const ended = once(gone, 'exit')
  gone.kill('SIGKILL')
  await ended
  receiver = await startReceiver(settings)
}

async function startReceiver(settings: Settings): Promise<ChildProcess> {
  const child = spawn(process.execPath, [...process.execArgv, receiverFile], {
    env: { ...process.env, ...settingsEnvironment(settings) },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [first] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
  if (!Buffer.isBuffer(first)) throw new Error('the receiver could not be started')
  return child
}
