import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, stat } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openForTest } from './open-for-test.ts'
import { query } from './query.ts'
import { startChild } from './start-child.ts'
import { begunDataDir, temporaryDataDir } from './temporary-data-dir.ts'

const nobody = 65534
const withoutName = 54_321

// Sends the first message of the protocol as role ranbook and prints the error it meets, the system's or the server's.
const TRY_TO_LOG_IN = `
const parameters = Buffer.from('user\\0ranbook\\0database\\0postgres\\0\\0')
const head = Buffer.alloc(8)
head.writeInt32BE(8 + parameters.length, 0)
head.writeInt32BE(196608, 4)
const socket = require('node:net').connect(process.argv[1], () => socket.write(Buffer.concat([head, parameters])))
socket.on('error', (error) => console.log(error.code))
socket.on('data', (answer) => { console.log(answer.toString('latin1')); socket.destroy() })`

function logInAs(uid: number, socket: string): string {
  const run = spawnSync(process.execPath, ['-e', TRY_TO_LOG_IN, socket], { uid, gid: uid, cwd: '/', encoding: 'utf8' })
  return run.stdout
}

const ownerOfProcess = async (pid: number): Promise<number> => (await stat(`/proc/${pid}`)).uid

// Changing to another user takes root.
describe.runIf(userInfo().uid === 0)('started by root', () => {
  test('no process of the database runs as root, and its folder is closed to others', async () => {
    const dataDir = await begunDataDir()
    const embedded = await openForTest(dataDir)
    const owner = await ownerOfProcess(embedded.postmasterPid)

    expect(owner).not.toBe(0)
    for (const folder of ['.', 'sock', 'postgres']) {
      expect(await stat(join(dataDir, folder))).toMatchObject({ uid: owner, mode: 0o40700 })
    }
  })

  test('another local user does not reach the socket, and is refused even where the folders stand open', async () => {
    const dataDir = await begunDataDir()
    const { connection } = await openForTest(dataDir)
    expect(logInAs(nobody, connection.path)).toBe('EACCES\n')

    await chmod(dataDir, 0o755)
    await chmod(join(dataDir, 'sock'), 0o755)
    await chmod(connection.path, 0o777)
    expect(logInAs(nobody, connection.path)).toContain('Peer authentication failed for user "ranbook"')
  })

  test('a folder that an ordinary user began is continued as that user, by root and then by the user again', async () => {
    const dataDir = await temporaryDataDir()
    await chown(dirname(dataDir), nobody, nobody)
    const first = await startChild(dataDir, nobody)
    expect(await first.tell('stop')).toEqual({ is: 'stopped' })

    const second = await openForTest(dataDir)
    expect(await ownerOfProcess(second.postmasterPid)).toBe(nobody)
    expect(await query(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    await second.stop()

    const third = await startChild(dataDir, nobody)
    expect(third.opened).toMatchObject({ is: 'open', adopted: false })
    expect(await third.tell('stop')).toEqual({ is: 'stopped' })
  })
})

describe.runIf(userInfo().uid === 0)('started by an ordinary user', () => {
  test('the database runs as that user, who can query and stop it', async () => {
    const dataDir = await temporaryDataDir()
    await chown(dirname(dataDir), nobody, nobody)
    const child = await startChild(dataDir, nobody)

    expect(child.opened).toMatchObject({ is: 'open', adopted: false })
    expect(await ownerOfProcess(child.opened.is === 'open' ? child.opened.postmasterPid : 0)).toBe(nobody)
    expect(await child.tell('ask')).toEqual({ is: 'answer', value: 42 })
    expect(await child.tell('stop')).toEqual({ is: 'stopped' })
  })

  test("somebody else's folder is refused and stays as it was", async () => {
    const dataDir = await temporaryDataDir()
    await mkdir(dataDir, { mode: 0o755 })
    const { opened } = await startChild(dataDir, nobody)

    expect(opened).toMatchObject({ is: 'refused', code: 'folder_unusable' })
    expect(opened).toHaveProperty('message', expect.stringContaining('belongs to uid 0'))
    expect(await stat(dataDir)).toMatchObject({ uid: 0, mode: 0o40755 })
  })

  test('a folder that can not be made is refused with the folder and the reason', async () => {
    const dataDir = await temporaryDataDir()
    const { opened } = await startChild(dataDir, nobody)

    expect(opened).toMatchObject({ is: 'refused', code: 'folder_unusable' })
    expect(opened).toHaveProperty(
      'message',
      expect.stringMatching(`${dataDir} can't be used: .*EACCES.* RANBOOK_DATA_DIR`),
    )
  })

  test('a uid without a name is told to become a named user or to set DATABASE_URL', async () => {
    const dataDir = await temporaryDataDir()
    await chown(dirname(dataDir), withoutName, withoutName)
    const { opened } = await startChild(dataDir, withoutName)

    expect(opened).toMatchObject({ is: 'refused', code: 'no_database_user' })
    expect(opened).toHaveProperty('message', expect.stringContaining('DATABASE_URL'))
  })
})
