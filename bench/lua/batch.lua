-- New claims, many per request. Arguments: key prefix, claims per request.
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. os.getenv("RANBOOK_KEY") }
local counter = 0
local prefix, size

function init(args)
  prefix = args[1]
  size = tonumber(args[2])
end

function request()
  local items = {}
  for i = 1, size do
    counter = counter + 1
    items[i] = '{"class":"bench.claim","consumer":"bench","key":"' .. prefix .. "-" .. counter .. '"}'
  end
  return wrk.format("POST", "/v1/claims/batch", headers, '{"claims":[' .. table.concat(items, ",") .. "]}")
end

dofile(os.getenv("RANBOOK_BENCH_REPORT"))
