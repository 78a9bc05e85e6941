const reasons: Readonly<Record<string, string>> = {
  ENOTFOUND: 'the name of the host is not known',
  EAI_AGAIN: 'the name of the host could not be resolved',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed without an answer',
  EPIPE: 'the connection was closed without an answer',
  ETIMEDOUT: 'the host could not be reached',
  EHOSTUNREACH: 'the host could not be reached',
  ENETUNREACH: 'the host could not be reached',
}

/**
 * Why a request failed, short and plain. Made from the error's code alone: its message may hold what the peer chose,
 * such as the names in a certificate.
 */
export function failureReason(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const known = reasons[code]
  if (known !== undefined) return known
  if (code.startsWith('HPE_')) return `the answer was not HTTP (${code})`
  if (/CERT|VERIFY|SIGNATURE/.test(code)) return `the certificate was not accepted (${code})`
  return code === '' ? 'the connection failed' : `the connection failed (${code})`
}
