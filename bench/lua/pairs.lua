-- Claim and complete: what was claimed is completed by one of the next requests. Argument: key prefix.
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. os.getenv("RANBOOK_KEY") }
local counter = 0
local prefix
local claimed = {}

function init(args)
  prefix = args[1]
end

function request()
  local path = table.remove(claimed)
  if path then
    return wrk.format("POST", path.path, headers, path.body)
  end
  counter = counter + 1
  local body = '{"class":"bench.claim","consumer":"bench","key":"' .. prefix .. "-" .. counter .. '"}'
  return wrk.format("POST", "/v1/claims", headers, body)
end

function response(status, _, body)
  if status ~= 201 then
    return
  end
  local id = string.match(body, '"id":"([^"]+)"')
  local token = string.match(body, '"claim_token":"([^"]+)"')
  claimed[#claimed + 1] = {
    path = "/v1/claims/" .. id .. "/complete",
    body = '{"claim_token":"' .. token .. '","result":{"ok":true}}',
  }
end

dofile(os.getenv("RANBOOK_BENCH_REPORT"))
