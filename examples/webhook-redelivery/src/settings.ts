/** How the receiver finds its service, its database and its own port. */
export type Settings = {
  ranbookUrl: string
  ranbookKey: string
  /** Where the effects go, as the Postgres client takes it. */
  effects: { host: string; port: number; database: string; username: string }
  receiverPort: number
  /** Passes a fresh idempotency key to the effect instead of the claim's: wrong, and here to show that it is noticed. */
  freshKeys: boolean
}

const variable = 'WEBHOOK_EXAMPLE'

/** The settings in the environment; throws where there are none. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const text = env[variable]
  if (text === undefined) throw new Error(`${variable} is not set: the receiver is started by main`)
  return JSON.parse(text) as Settings
}

/** The environment that hands the settings to a child process. */
export function settingsEnvironment(settings: Settings): Record<string, string> {
  return { [variable]: JSON.stringify(settings) }
}
