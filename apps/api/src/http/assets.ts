import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import type { Answer } from './answer.ts'

/** A file as browsers get it. */
export type Asset = {
  headers: Record<string, string>
  etag: string
  body: Uint8Array<ArrayBuffer>
}

/** By path from `/`. A file is read when it is first asked for, and kept. */
export type Assets = ReadonlyMap<string, () => Asset>

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

/** Nothing from elsewhere, nothing inline, in nobody's frame. `images` adds a source of images. */
export function contentSecurityPolicy(images = ''): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self'${images}`,
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Kept by the browser, but asked for again each time whether it changed. */
export const revalidated = 'no-cache'
/** For names that hold a hash of the content: a year, the longest that caches honour. */
const immutable = 'public, max-age=31536000, immutable'

/** An asset of these bytes; `name` tells its type. */
export function assetOf(name: string, body: Uint8Array<ArrayBuffer>, cacheControl: string, policy: string): Asset {
  const etag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  const headers = {
    'content-type': types[extname(name)] ?? 'application/octet-stream',
    'cache-control': cacheControl,
    'content-security-policy': policy,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    etag,
  }
  return { headers, etag, body }
}

/**
 * Every file below the folder of the built web app, `/` being its index.html. The list is made here, once, so that no
 * request's path ever reaches the file system. Throws where the folder can't be read.
 */
export function webAssets(webRoot: string): Assets {
  const assets = new Map<string, () => Asset>()
  const policy = contentSecurityPolicy()
  for (const entry of readdirSync(webRoot, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = `/${relative(webRoot, file).split(sep).join('/')}`
    // Vite puts only files with a hash in their names into assets/.
    const cacheControl = path.startsWith('/assets/') ? immutable : revalidated
    assets.set(
      path,
      keep(() => assetOf(entry.name, readFileSync(file), cacheControl, policy)),
    )
  }
  const index = assets.get('/index.html')
  if (index !== undefined) assets.set('/', index)
  return assets
}

/** `make`, called once. */
export function keep<T>(make: () => T): () => T {
  let made: { value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** 304 where the browser has these bytes already. */
export function assetAnswer({ headers, etag, body }: Asset, ifNoneMatch: string | undefined): Answer {
  const known = ifNoneMatch?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag) ?? false
  return known ? { status: 304, headers: { ...headers }, body: null } : { status: 200, headers: { ...headers }, body }
}
