/** Where the admin key can be found by whoever reads the terminal. */
export type AdminKeySource =
  /** Just made: this is the only time it is shown. `file` is null where only its hash is kept. */
  | { kind: 'made'; key: string; file: string | null }
  | { kind: 'file'; file: string }
  | { kind: 'environment' }
  /** Made at an earlier start on this database, of which only the hash is known. */
  | { kind: 'shown_before' }

export type BannerParts = {
  version: string
  /** Origin that people open, without a trailing slash. */
  publicUrl: string
  /** Origin that reaches this server from this machine, without a trailing slash. */
  localUrl: string
  /** Such as `embedded PostgreSQL at /srv/ranbook`. */
  database: string
  adminKey: AdminKeySource
}

/** What a started server says on its terminal: where it is, how to sign in, and a first claim that can be pasted into a shell. */
export function banner({ version, publicUrl, localUrl, database, adminKey }: BannerParts): string {
  return [
    '',
    `Ranbook ${version} is ready at ${publicUrl}`,
    `  API docs   ${publicUrl}/docs`,
    `  Database   ${database}`,
    ...signIn(publicUrl, adminKey),
    '',
    'A first claim, to paste into a shell (again: it is in progress, for a minute):',
    `  curl -sS ${quoted(`${localUrl}/v1/claims`)} -H ${authorization(adminKey)} -H 'Content-Type: application/json' \\`,
    `    -d '{"class":"hello.world","consumer":"shell","key":"greeting:1","payload":{"hello":"world"}}'`,
    '',
    '',
  ].join('\n')
}

function signIn(publicUrl: string, adminKey: AdminKeySource): string[] {
  switch (adminKey.kind) {
    case 'made':
      return [
        // The key is in the fragment, which browsers send to nobody, so that it gets into no log on the way.
        `  Sign in    ${publicUrl}/#key=${encodeURIComponent(adminKey.key)}`,
        `  Admin key  ${adminKey.key}`,
        adminKey.file === null
          ? '             Shown this once: keep it. (RANBOOK_ADMIN_KEY would set one of your own.)'
          : `             Shown this once; it is kept in ${adminKey.file}`,
      ]
    case 'file':
      return [`  Sign in    ${publicUrl}/ with the admin key in ${adminKey.file}`]
    case 'environment':
      return [`  Sign in    ${publicUrl}/ with the admin key in RANBOOK_ADMIN_KEY`]
    case 'shown_before':
      return [
        `  Sign in    ${publicUrl}/ with the admin key that the first start on this database showed`,
        '             Lost it? Set RANBOOK_ADMIN_KEY to one of your own and start again.',
      ]
  }
}

function authorization(adminKey: AdminKeySource): string {
  switch (adminKey.kind) {
    case 'made':
      return quoted(`Authorization: Bearer ${adminKey.key}`)
    case 'file':
      return `"Authorization: Bearer $(cat ${quoted(adminKey.file)})"`
    case 'environment':
    case 'shown_before':
      return '"Authorization: Bearer $RANBOOK_ADMIN_KEY"'
  }
}

/** One word of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
