// Scripts of one key each, so that they run in a cluster too.
//
// A value is 7 bytes of fencing number (big-endian), the version in 7 bits a byte, and the body. So whether a version
// stands can be told from the beginning of the value, without taking it apart. The clock is Redis's own: numbers of µs
// since 1970 stay below 2^53 until the year 2255, and a double, which is all that Lua has, holds them exactly.

/**
 * Sets the cell where none stands.
 *
 * KEYS[1] the cell. ARGV[1] version and body. ARGV[2] how long it lasts, in ms.
 * Answers the clock in µs, which is then the fencing number, and the value that stood there already, if one did.
 */
export const INSERT_CELL = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local standing = redis.call('GET', KEYS[1])
if standing then return { now, standing } end
redis.call('SET', KEYS[1], struct.pack('>I7', now) .. ARGV[1], 'PX', ARGV[2])
return { now }
`

/**
 * Reads the cell, with the clock that its lease is judged by.
 *
 * KEYS[1] the cell.
 * Answers the clock in µs, and the value if one stands.
 */
export const READ_CELL = `
local time = redis.call('TIME')
return { time[1] * 1000000 + time[2], redis.call('GET', KEYS[1]) }
`

/**
 * Writes over the version that was read.
 *
 * KEYS[1] the cell. ARGV[1] fencing number and version that have to stand. ARGV[2] '1' where a new fencing number is
 * drawn: the clock in µs, or the next one where that is not larger. ARGV[3] version and body. ARGV[4] until when it
 * lasts, in ms since 1970.
 * Answers the fencing number as 7 bytes; nothing where something else stands.
 */
export const SWAP_CELL = `
if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return false end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local fencing = string.sub(ARGV[1], 1, 7)
if ARGV[2] == '1' then
  fencing = struct.pack('>I7', math.max(struct.unpack('>I7', fencing) + 1, now))
end
local lasts = math.max(1, ARGV[4] - math.floor(now / 1000))
redis.call('SET', KEYS[1], fencing .. ARGV[3], 'PX', string.format('%.0f', lasts))
return fencing
`
