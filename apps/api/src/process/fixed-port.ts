import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/**
 * The port that processes can share: the one asked for, or where that is 0, one that is free now. Each of them asks for
 * it by its number then, so that one that replaces others finds the port that clients were told, whoever still lives.
 * Where none can be listened on, 0: who listens then says why.
 */
export async function fixedPort(host: string, port: number): Promise<number> {
  if (port !== 0) return port
  const server = createServer().listen(0, host)
  try {
    await once(server, 'listening')
  } catch {
    return 0
  }
  const { port: free } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return free
}
