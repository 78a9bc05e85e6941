-- Claims of keys that completed. Arguments: key prefix, number of keys.
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. os.getenv("RANBOOK_KEY") }
local counter = 0
local prefix, keys

function init(args)
  prefix = args[1]
  keys = tonumber(args[2])
end

function request()
  counter = counter + 1
  local body = '{"class":"bench.claim","consumer":"bench","key":"' .. prefix .. "-" .. (counter % keys + 1) .. '"}'
  return wrk.format("POST", "/v1/claims", headers, body)
end

dofile(os.getenv("RANBOOK_BENCH_REPORT"))
