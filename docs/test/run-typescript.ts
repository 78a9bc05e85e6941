import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { top } from './read-page.ts'

const run = promisify(execFile)

const settings = {
  compilerOptions: {
    strict: true,
    target: 'es2022',
    lib: ['es2023'],
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(top, 'node_modules/@types')],
    skipLibCheck: true,
  },
  files: ['block.ts'],
}

/**
 * Compiles and runs a block as a user would, in a package of its own below `folder` that has the SDK installed. Resolves
 * to what it printed; rejects where it does not compile or fails.
 */
export async function runTypeScript(folder: string, text: string, env: Record<string, string>): Promise<string> {
  const own = join(folder, 'typescript')
  await mkdir(join(own, 'node_modules/@ranbook'), { recursive: true })
  await symlink(join(top, 'packages/sdk'), join(own, 'node_modules/@ranbook/sdk'))
  await writeFile(join(own, 'package.json'), '{"type": "module"}')
  await writeFile(join(own, 'tsconfig.json'), JSON.stringify(settings))
  await writeFile(join(own, 'block.ts'), text)
  await run(process.execPath, [join(top, 'node_modules/typescript/bin/tsc'), '-p', own])
  const { stdout } = await run(process.execPath, [join(own, 'block.js')], { env })
  return stdout
}
