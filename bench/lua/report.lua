-- One JSON line at the end, read by the benchmark. Latencies in microseconds.
function done(summary, latency)
  io.write(string.format(
    '\nREPORT {"requests":%d,"durationUs":%d,"errors":%d,"non2xx":%d,"p50Us":%.0f,"p99Us":%.0f}\n',
    summary.requests,
    summary.duration,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout,
    summary.errors.status,
    latency:percentile(50),
    latency:percentile(99)
  ))
end
