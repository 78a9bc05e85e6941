/** What `If-Match` asks for: any version that exists, or one of these. Tags of no version of ours are left out. */
export type IfMatch = 'any' | readonly number[]

const TAG = /^(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"$/

/** The header's meaning, null where it is absent. Weak tags never match, as RFC 9110 wants it. */
export function parseIfMatch(header: string | undefined): IfMatch | null {
  if (header === undefined) return null
  if (header.trim() === '*') return 'any'
  const tags = header.split(',').map((part) => TAG.exec(part.trim()))
  return tags.flatMap((tag) =>
    tag !== null && tag[1] === undefined && /^\d{1,9}$/.test(tag[2] ?? '') ? [Number(tag[2])] : [],
  )
}

/** May a change go ahead over this version (null: none stands)? */
export function matchesVersion(ifMatch: IfMatch, version: number | null): boolean {
  if (version === null) return false
  return ifMatch === 'any' || ifMatch.includes(version)
}

/** The `ETag` of a version. */
export function versionTag(version: number): string {
  return `"${version}"`
}
