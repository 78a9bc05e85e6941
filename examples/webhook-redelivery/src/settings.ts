/** How the receiver finds its service, its database and its own port. */
export type Settings = {
  ranbookUrl: string
  ranbookKey: string
  /** Options of the client for the database the effects go to. */
  effects: { host: string; port: number; database: string; username: string; password?: string }
  receiverPort: number
}

const variable = 'WEBHOOK_EXAMPLE'

/** The settings in the environment; throws where there are none. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const text = env[variable]
  if (text === undefined) throw new Error(`${variable} is not set: start src/main.ts, which starts the receiver`)
  return JSON.parse(text) as Settings
}

/** The environment that hands the settings to a child process. */
export function settingsEnvironment(settings: Settings): Record<string, string> {
  return { [variable]: JSON.stringify(settings) }
}
