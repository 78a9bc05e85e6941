import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export type TcpProxy = {
  /** On 127.0.0.1. */
  port: number
  /** Cuts every connection and refuses new ones. */
  cut(): void
  /** Lets connections through again. */
  mend(): void
}

/**
 * Makes a Unix socket reachable over TCP, as an external database is, for one test. It cuts by itself when a client sends
 * `cutAt` for the first time.
 */
export async function tcpProxy(path: string, cutAt?: string): Promise<TcpProxy> {
  const open = new Set<Socket>()
  let isCut = false
  let awaited = cutAt
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const upstream = connect(path)
    client.on('data', (sent) => {
      if (awaited === undefined || !sent.includes(awaited)) return
      awaited = undefined
      cut()
    })
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(socket)
      // An error is followed by `close`, which is all that matters here.
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  const cutAll = (): void => {
    for (const socket of open) socket.destroy()
  }
  const cut = (): void => {
    isCut = true
    cutAll()
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    cutAll()
    server.close()
  })
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('The proxy does not listen')
  return {
    port: address.port,
    cut,
    mend: () => {
      isCut = false
    },
  }
}
