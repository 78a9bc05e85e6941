import { once } from 'node:events'
import { connect } from 'node:net'
import { onTestFinished } from 'vitest'
import { requestListener } from '../../src/http/request-listener.ts'
import { startHttpServer } from '../../src/process/http-server.ts'
import type { MemoryApp } from './memory-app.ts'

export type ListeningApp = {
  url: string
  port: number
  /** Writes text as it is on a new connection, and reads what is answered until the server closes or says no more. */
  exchange(...parts: (string | Uint8Array)[]): Promise<string>
}

/** The app behind the server's own socket, on a free port of this machine, until the test is over. */
export async function listeningApp({ app, deps: { log } }: Pick<MemoryApp, 'app' | 'deps'>): Promise<ListeningApp> {
  const newRequestId = (): string => 'made-before-the-app'
  const handle = requestListener(app, { newRequestId, log })
  const server = await startHttpServer({ host: '127.0.0.1', port: 0, handle, newRequestId })
  onTestFinished(async () => {
    server.stopAccepting()
    await server.finish(0)
  })
  const exchange = async (...parts: (string | Uint8Array)[]): Promise<string> => {
    const socket = connect(server.port, '127.0.0.1').setEncoding('utf8').setNoDelay(true)
    let received = ''
    socket.on('data', (part: string) => {
      received += part
    })
    for (const part of parts) {
      socket.write(part)
      // Each part shall arrive by itself.
      await new Promise(setImmediate)
    }
    await once(socket, 'close')
    return received
  }
  return { url: `http://127.0.0.1:${server.port}`, port: server.port, exchange }
}
