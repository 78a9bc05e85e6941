/** Sizes and counts the service accepts. Every name carries its unit; bytes are those of UTF-8. */
export const limits = {
  keyMaxBytes: 1024,
  /** class, consumer, source, owner and each reference */
  nameMaxBytes: 200,
  refsMaxCount: 16,
  jsonMaxDepth: 64,
  bodyMaxBytes: 1024 * 1024,
  batchBodyMaxBytes: 8 * 1024 * 1024,
  /** payload and result, each as JSON text */
  opaqueMaxBytes: 256 * 1024,
  /** result of a window class, which stays in memory; as JSON text */
  windowResultMaxBytes: 16 * 1024,
  errorMessageMaxBytes: 8 * 1024,
  errorCodeMaxBytes: 200,
  errorDetailMaxBytes: 64 * 1024,
  reasonMaxBytes: 2000,
  batchMaxItems: 1000,
  leaseMinMs: 1000,
  leaseMaxMs: 86_400_000,
  backoffMaxMs: 86_400_000,
  attemptsMax: 1000,
  windowMaxMs: 31_622_400_000,
  gapTimeoutMaxMs: 604_800_000,
  retryAfterMaxMs: 604_800_000,
  waitMaxMs: 30_000,
  /** retry_after_ms of `in_progress` and `waiting` never exceeds this */
  retryHintMaxMs: 5000,
  pageMaxItems: 200,
  pageDefaultItems: 50,
  requestIdMaxChars: 128,
  seqMax: 9_223_372_036_854_775_807n,
  lookupMaxPairs: 2000,
} as const
