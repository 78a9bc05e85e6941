export * from './create-ranbook.ts'
export { RanbookError } from './ranbook-error.ts'
export type { TransportOptions } from './transport.ts'
