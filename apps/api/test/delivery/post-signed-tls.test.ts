import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { postFromChild } from './post-from-child.ts'

let folder = ''

// A certificate of hooks.example.com and 127.0.0.1 that vouches for itself.
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'target-'))
  const names = 'subjectAltName=DNS:hooks.example.com,IP:127.0.0.1'
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'certificate.pem')]
  const subject = ['-subj', '/CN=canary', '-addext', names, '-days', '2']
  await promisify(execFile)('openssl', ['req', '-x509', ...curve, ...files, ...subject])
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Greeted = { servername: string | false | null; host: string | undefined }

async function startTlsTarget(): Promise<{ port: number; greeted: readonly Greeted[] }> {
  const greeted: Greeted[] = []
  const key = await readFile(join(folder, 'key.pem'))
  const cert = await readFile(join(folder, 'certificate.pem'))
  const server = createServer({ key, cert }, (request, response) => {
    greeted.push({ servername: (request.socket as TLSSocket).servername, host: request.headers.host })
    response.end()
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, greeted }
}

test('over TLS the server is asked for by its name, and its certificate has to be that of the name', async () => {
  const { port, greeted } = await startTlsTarget()
  const outcomes = await postFromChild({ NODE_EXTRA_CA_CERTS: join(folder, 'certificate.pem') }, [
    `https://hooks.example.com:${port}/`,
    `https://Hooks.example.com.:${port}/`,
    `https://127.0.0.1:${port}/`,
    `https://other.example.com:${port}/`,
    `https://[::ffff:127.0.0.1]:${port}/`,
  ])
  const notAccepted = {
    kind: 'failed',
    status: null,
    reason: 'the certificate was not accepted (ERR_TLS_CERT_ALTNAME_INVALID)',
  }
  const delivered = { kind: 'delivered', status: 200 }
  expect(outcomes).toEqual([delivered, delivered, delivered, notAccepted, notAccepted])
  expect(greeted).toEqual([
    { servername: 'hooks.example.com', host: `hooks.example.com:${port}` },
    { servername: 'hooks.example.com', host: `hooks.example.com.:${port}` },
    { servername: false, host: `127.0.0.1:${port}` },
  ])
})

test('a certificate that nobody vouches for is not accepted, even where the environment turns the check off', async () => {
  const { port, greeted } = await startTlsTarget()
  const outcomes = await postFromChild({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }, [`https://hooks.example.com:${port}/`])
  expect(outcomes).toEqual([
    {
      kind: 'failed',
      status: null,
      reason: 'the certificate was not accepted (DEPTH_ZERO_SELF_SIGNED_CERT)',
    },
  ])
  expect(greeted).toEqual([])
})
