import { execFileSync } from 'node:child_process'
import { chmod, cp, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { binaryPackage, runnableBinaries } from '../../src/stores/postgres/embedded-binaries.ts'
import { databaseUser } from '../../src/stores/postgres/embedded-user.ts'
import { runAsUser } from '../../src/stores/postgres/run-as-user.ts'
import { openForTest } from './open-for-test.ts'
import { query } from './query.ts'
import { begunDataDir, temporaryDataDir } from './temporary-data-dir.ts'

const silent = { info: () => {}, warn: () => {} }
const isRoot = userInfo().uid === 0

describe('the data folder', () => {
  test('a file in its place is refused', async () => {
    const dataDir = await temporaryDataDir()
    await writeFile(dataDir, '')
    await expect(openForTest(dataDir)).rejects.toMatchObject({
      code: 'folder_unusable',
      message: expect.stringMatching(`${dataDir} can't be used: .*ENOTDIR.* Set RANBOOK_DATA_DIR`),
    })
  })

  test('a folder with files that are not ours is refused, and keeps its owner, mode and files', async () => {
    const dataDir = await temporaryDataDir()
    await mkdir(dataDir, { mode: 0o755 })
    await writeFile(join(dataDir, 'letter.txt'), 'dear')
    const before = await stat(dataDir)

    await expect(openForTest(dataDir)).rejects.toMatchObject({
      code: 'folder_unusable',
      message: expect.stringContaining('letter.txt'),
    })
    expect(await stat(dataDir)).toMatchObject({ uid: before.uid, mode: before.mode })
    expect(await readdir(dataDir)).toEqual(['letter.txt'])
  })

  test('one whose database alone was removed is begun anew', async () => {
    const dataDir = await begunDataDir()
    await rm(join(dataDir, 'postgres'), { recursive: true })
    for (const name of ['admin-key', 'admin-key.00000000-0000-4000-8000-000000000001', 'postgres.log.1']) {
      await writeFile(join(dataDir, name), '')
    }
    const { connection } = await openForTest(dataDir)
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('one that another major version of PostgreSQL wrote is refused, and nothing in it changes', async () => {
    const dataDir = await begunDataDir()
    await (await openForTest(dataDir)).stop()
    const version = join(dataDir, 'postgres', 'PG_VERSION')
    await writeFile(version, '17\n')
    const before = (await readdir(join(dataDir, 'postgres'))).sort()

    await expect(openForTest(dataDir)).rejects.toMatchObject({
      code: 'other_major_version',
      message: expect.stringMatching('written by PostgreSQL 17, and this Ranbook brings PostgreSQL 18'),
    })
    expect((await readdir(join(dataDir, 'postgres'))).sort()).toEqual(before)
  })

  test('one whose database lost its version is refused, and what is left of it stays', async () => {
    const dataDir = await begunDataDir()
    await rm(join(dataDir, 'postgres', 'PG_VERSION'))
    const before = (await readdir(join(dataDir, 'postgres'))).sort()

    await expect(openForTest(dataDir)).rejects.toMatchObject({
      code: 'folder_unusable',
      message: expect.stringContaining('no whole database'),
    })
    expect((await readdir(join(dataDir, 'postgres'))).sort()).toEqual(before)
  })

  test('a database that can not start is refused with its last words', async () => {
    const dataDir = await begunDataDir()
    await (await openForTest(dataDir)).stop()
    await rm(join(dataDir, 'postgres', 'global', 'pg_control'))
    await expect(openForTest(dataDir)).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringContaining('pg_control'),
    })
  })

  test('a path too long for a socket works, with one closed folder for the socket elsewhere', async () => {
    const dataDir = join(await temporaryDataDir(), 'long'.repeat(25))
    const first = await openForTest(dataDir)
    const sockets = dirname(first.connection.path)
    onTestFinished(() => rm(sockets, { recursive: true }))
    expect(await query(first.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect(await stat(sockets)).toMatchObject({ uid: (await stat(dataDir)).uid, mode: 0o40700 })
    await first.stop()

    // Something that tidies up temporary folders must not move the socket.
    await rm(sockets, { recursive: true })
    const second = await openForTest(dataDir)
    expect(second.connection).toEqual(first.connection)
    expect(await query(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('a path with blanks, quotes and letters beyond ASCII works', async () => {
    const dataDir = join(await temporaryDataDir(), `it's "a", $HOME\\ földer`)
    const { connection } = await openForTest(dataDir)
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })
})

test.runIf(isRoot)(
  'a backup that root put back, without pipes and socket, is given to the database user and starts',
  async () => {
    const dataDir = await begunDataDir()
    for (const name of ['alive', 'users', 'sock']) await rm(join(dataDir, name), { recursive: true })
    execFileSync('chown', ['-R', '0:0', dataDir])

    const { connection, postmasterPid } = await openForTest(dataDir)
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
    expect((await stat(`/proc/${postmasterPid}`)).uid).not.toBe(0)
  },
)

describe.runIf(isRoot)('a folder above that is closed to the database user', () => {
  test('is named in the refusal, and no folder above is opened', async () => {
    const dataDir = await temporaryDataDir()
    const closed = dirname(dataDir)
    await chmod(closed, 0o700)

    await expect(openForTest(join(dataDir, 'deep', 'data'))).rejects.toMatchObject({
      code: 'folder_unusable',
      message: expect.stringMatching(`may not enter ${closed}\\. Set RANBOOK_DATA_DIR`),
    })
    expect((await stat(closed)).mode & 0o777).toBe(0o700)
  })

  test('can be passed through an open handle when asked for, and crashes and restarts work there too', async () => {
    const dataDir = await temporaryDataDir()
    const closed = dirname(dataDir)
    await chmod(closed, 0o700)

    const first = await openForTest(dataDir, { throughClosedParents: true })
    await query(first.connection, 'CREATE TABLE kept AS SELECT 7 AS value')
    process.kill(first.postmasterPid, 'SIGKILL')
    await expect
      .poll(() => first.restart().then(() => query(first.connection, 'SELECT value FROM kept')))
      .toEqual([{ value: 7 }])
    await first.stop()

    const second = await openForTest(dataDir, { throughClosedParents: true })
    expect(await query(second.connection, 'SELECT value FROM kept')).toEqual([{ value: 7 }])
    expect(await readdir(join(dataDir, 'postgres'))).toContain('PG_VERSION')
    expect((await stat(closed)).mode & 0o777).toBe(0o700)
  })
})

describe('the binaries', () => {
  test.each(['plan9-x64', 'win32-x64'])('there being none for %s is answered with DATABASE_URL', async (target) => {
    await expect(binaryPackage(target)).rejects.toMatchObject({
      code: 'unsupported_platform',
      message: expect.stringContaining('Set DATABASE_URL'),
    })
  })

  test('ones that this system can not load, as under musl, are answered with DATABASE_URL', async () => {
    const place = dirname(await temporaryDataDir())
    const native = join(place, 'native')
    await mkdir(join(native, 'bin'), { recursive: true })
    await writeFile(join(native, 'pg-symlinks.json'), '[]')
    await writeFile(join(native, 'bin', 'postgres'), '#!/lib/no-such-loader.so\n', { mode: 0o755 })

    const user = databaseUser(undefined)
    await expect(
      runnableBinaries({ native, version: '18' }, user, join(place, 'copies'), silent),
    ).rejects.toMatchObject({
      code: 'unsupported_platform',
      message: expect.stringMatching('musl.*Set DATABASE_URL'),
    })
  })

  test.runIf(isRoot)(
    'ones installed in a closed folder by a strict umask are copied once to where the user can run them',
    async () => {
      const place = dirname(await temporaryDataDir())
      const closed = join(place, 'closed')
      const { native, version } = await binaryPackage()
      await mkdir(closed, { mode: 0o700 })
      await cp(native, join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
      await chmod(join(closed, 'native', 'share'), 0o700)
      await chmod(join(closed, 'native', 'bin', 'initdb'), 0o700)

      const user = databaseUser(undefined)
      const copies = join(place, 'copies')
      const installed = { native: join(closed, 'native'), version }
      const first = await runnableBinaries(installed, user, copies, silent)
      expect(first.initdb).toBe(join(copies, version, 'native', 'bin', 'initdb'))
      expect(await runAsUser(user, '/', first.initdb, ['--version'])).toMatchObject({ status: 0 })

      const { ino } = await stat(first.postgres)
      expect(await runnableBinaries(installed, user, copies, silent)).toEqual(first)
      expect((await stat(first.postgres)).ino).toBe(ino)
      expect(await readdir(copies)).toEqual([version])
    },
  )
})
