// How long an end may take. Each limit lies within the next one; whoever ends the service counts on the last.

/** Requests that are in flight when a drain begins have this long, then they are cut. */
export const requestsLimitMs = 8000
/** One serving process: what the requests leave, tallies and connections, has the second that is left. */
export const servingLimitMs = 9000
/** A worker process that is still there by then hangs, and is killed. */
export const workerLimitMs = 9500
/** All of it. An embedded database that is still ending then is left to its guard. */
export const endLimitMs = 10_000
