import type { Socket } from 'node:net'
import { destroySocket } from './connect.ts'

/** How often a connection is looked at. */
const lookEveryMs = 1000

/**
 * Destroys a connection on which nothing has moved for a while: either its other end is gone, or nobody needs it and
 * the next statement connects anew. Counts bytes, as TLS takes the socket's own time-out away.
 */
export function watchSilence(socket: Socket, silentMaxMs: number): void {
  let moved = -1
  let silentMs = 0
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer)
    const bytes = socket.bytesRead + socket.bytesWritten
    silentMs = bytes === moved ? silentMs + lookEveryMs : 0
    moved = bytes
    if (silentMs >= silentMaxMs) destroySocket(socket)
  }, lookEveryMs)
  timer.unref()
}
