import type { z } from 'zod'
import type { Action } from './states.ts'

/** One call of the API: where it is, who may make it, and what goes in and out. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{name}` where a parameter stands. */
  readonly path: string
  /** `open` to everybody, else to a caller with any one of the actions. There is no other way in. */
  readonly access: 'open' | readonly Action[]
  /**
   * When it is refused under load: `first` pages and reports, then new `claims`, `last` what settles them and so makes
   * room, `never` what tells whether the process lives.
   */
  readonly shed: 'first' | 'claims' | 'last' | 'never'
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: z.ZodType
  /** The body may be left out. */
  readonly bodyOptional?: true
  /** Answers carry the version as `ETag`; a change goes over that version alone where `If-Match` names it. */
  readonly versioned?: true
  /** By status: the JSON that is answered, null where the body is empty, or the media type of what is not JSON. */
  readonly answers: Readonly<Record<number, z.ZodType | string | null>>
}
