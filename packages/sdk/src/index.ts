export * from './create-ranbook.ts'
export * from './ranbook-error.ts'
export type { TransportOptions } from './transport-options.ts'
