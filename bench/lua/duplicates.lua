-- Claims of keys that completed. Arguments: key prefix, number of keys.
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. os.getenv("RANBOOK_KEY") }
local counter = 0
local requests = {}

-- Every request is laid out before: the load shares the cores with what it measures.
function init(args)
  for key = 1, tonumber(args[2]) do
    local body = '{"class":"bench.claim","consumer":"bench","key":"' .. args[1] .. "-" .. key .. '"}'
    requests[key] = wrk.format("POST", "/v1/claims", headers, body)
  end
end

function request()
  counter = counter % #requests + 1
  return requests[counter]
end

dofile(os.getenv("RANBOOK_BENCH_REPORT"))
