import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Asset, type Assets, assetOf, contentSecurityPolicy, keep, revalidated } from './assets.ts'

// Links are relative, so that the page works behind a proxy that serves it below another path.
const page = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Ranbook API</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="docs"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/init.js"></script>
  </body>
</html>
`

// No validator: it would send the address of the document to a stranger's server.
const init = `SwaggerUIBundle({
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null,
})
`

/** The page at `/docs` and all it loads, from this machine alone. */
export function docsAssets(): Assets {
  // The browsable page draws its icons from data: URIs.
  const policy = contentSecurityPolicy(' data:')
  const { resolve } = createRequire(import.meta.url)
  const own = (name: string, text: string) => keep((): Asset => assetOf(name, Buffer.from(text), revalidated, policy))
  const packaged = (name: string) =>
    keep((): Asset => assetOf(name, readFileSync(resolve(`swagger-ui-dist/${name}`)), revalidated, policy))
  return new Map([
    ['/docs', own('docs.html', page)],
    ['/docs/init.js', own('init.js', init)],
    ['/docs/swagger-ui-bundle.js', packaged('swagger-ui-bundle.js')],
    ['/docs/swagger-ui.css', packaged('swagger-ui.css')],
  ])
}
