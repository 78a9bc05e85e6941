-- New claims, one per request. Arguments: key prefix, payload (JSON text or empty).
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. os.getenv("RANBOOK_KEY") }
local counter = 0
local prefix, tail

function init(args)
  prefix = args[1]
  tail = args[2] and args[2] ~= "" and ('","payload":' .. args[2] .. "}") or '"}'
end

function request()
  counter = counter + 1
  local body = '{"class":"bench.claim","consumer":"bench","key":"' .. prefix .. "-" .. counter .. tail
  return wrk.format("POST", "/v1/claims", headers, body)
end

dofile(os.getenv("RANBOOK_BENCH_REPORT"))
