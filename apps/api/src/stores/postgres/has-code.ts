/** Whether something thrown is an error that carries this `code`, as the system's and PostgreSQL's errors do. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
