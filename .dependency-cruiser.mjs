// Who may import whom. The order of the layers:
//   contract ← rules ← ledger ← http ← app ← main,   rules ← stores ← main
const ledger = '^apps/api/src/ledger/'
const http = '^apps/api/src/http/'
const stores = '^apps/api/src/stores/'
const recordStoreInterface = '^apps/api/src/stores/record-store\\.ts$'
const drivers = 'node_modules/(drizzle-orm|postgres|ioredis)/'
const web = 'node_modules/(hono|@hono/[^/]+)/'

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Two files that need each other are one file, or lack a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nothing-unresolved',
      comment:
        'Not there, or a package that the package.json beside it does not name; it would escape every rule below.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'contract-knows-only-zod',
      comment: 'The contract is what every client shares.',
      severity: 'error',
      from: { path: '^packages/contract/src/' },
      to: { pathNot: ['^packages/contract/src/', 'node_modules/zod/'] },
    },
    {
      name: 'rules-know-only-the-contract',
      comment: 'Pure functions: of Node only what computes.',
      severity: 'error',
      from: { path: '^packages/rules/src/' },
      to: { pathNot: ['^packages/(rules|contract)/src/', '^(node:)?(buffer|crypto)$'] },
    },
    {
      name: 'sdk-knows-only-the-contract',
      comment: 'Its users install the SDK, not the server.',
      severity: 'error',
      from: { path: '^packages/sdk/src/' },
      to: { path: ['^apps/', '^bench/', '^examples/'] },
    },
    {
      name: 'web-knows-sdk-and-contract',
      comment: 'The page is a client like any other.',
      severity: 'error',
      from: { path: '^apps/web/src/' },
      to: { path: ['^apps/api/', '^packages/(?!sdk/|contract/)', '^bench/', '^examples/'] },
    },
    {
      name: 'ledger-sees-no-driver-and-no-http',
      comment: 'The verbs see the store interface.',
      severity: 'error',
      from: { path: ledger },
      to: { path: [drivers, web, http, '^apps/api/src/(app|main)\\.ts$'] },
    },
    {
      name: 'ledger-sees-the-store-interface-only',
      severity: 'error',
      from: { path: ledger },
      to: { path: stores, pathNot: recordStoreInterface },
    },
    {
      name: 'http-sees-no-driver',
      comment: 'Routes parse, call a verb and serialize.',
      severity: 'error',
      from: { path: http },
      to: { path: [drivers, `${stores}[^/]+/`, '^apps/api/src/(app|main)\\.ts$'] },
    },
    {
      name: 'stores-stand-below-the-ledger',
      comment: 'A store knows the rules’ types and its database, nothing above it.',
      severity: 'error',
      from: { path: stores },
      to: { path: [ledger, http, web, '^apps/api/src/(app|main)\\.ts$'] },
    },
    {
      name: 'app-listens-nowhere',
      comment: 'createApp(deps) is handed its stores; only main.ts opens them.',
      severity: 'error',
      from: { path: '^apps/api/src/app\\.ts$' },
      to: { path: [drivers, `${stores}[^/]+/`, '^apps/api/src/main\\.ts$'] },
    },
    {
      name: 'nobody-imports-main',
      severity: 'error',
      from: {},
      to: { path: '^apps/api/src/main\\.ts$' },
    },
    {
      name: 'no-import-of-the-own-index',
      comment: 'A package’s index.ts is for others; inside, name the file.',
      severity: 'error',
      from: { path: '^(packages|apps)/([^/]+)/src/' },
      to: { path: '^$1/$2/src/index\\.ts$' },
    },
    {
      name: 'sources-import-no-tests',
      severity: 'error',
      from: { path: '/src/' },
      to: { path: ['/test/', 'node_modules/(vitest|fast-check)/'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(bench|(packages|apps|examples)/[^/]+)/dist/' },
    // Type imports count: a cycle of types is a cycle to its reader.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      conditionNames: ['ranbook-source', 'import', 'node', 'default', 'types'],
      exportsFields: ['exports'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json', '.d.ts'],
    },
  },
}
