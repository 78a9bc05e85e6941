import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { createApp } from '../../src/app.ts'
import { requestListener } from '../../src/http/request-listener.ts'

export type ListeningApp = { url: string; port: number; close(): Promise<void> }

/** The app behind a real socket, on a free port of this machine. */
export async function listeningApp(app: ReturnType<typeof createApp>): Promise<ListeningApp> {
  const server = createServer(requestListener(app, { newRequestId: () => 'before-the-app' }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
