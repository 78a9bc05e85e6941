-- New claims, one per request. Arguments: key prefix, payload (JSON text or empty).
local headers = { ["Content-Type"] = "application/json", ["Authorization"] = "Bearer " .. os.getenv("RANBOOK_KEY") }
local counter = 0
local before, after

-- The request is laid out once, its number left open: the load shares the cores with what it measures.
function init(args)
  local tail = args[2] and args[2] ~= "" and ('","payload":' .. args[2] .. "}") or '"}'
  local number = string.format("%010d", 0)
  local body = '{"class":"bench.claim","consumer":"bench","key":"' .. args[1] .. "-" .. number .. tail
  local text = wrk.format("POST", "/v1/claims", headers, body)
  before = string.sub(text, 1, #text - #tail - #number)
  after = tail
end

function request()
  counter = counter + 1
  return before .. string.format("%010d", counter) .. after
end

dofile(os.getenv("RANBOOK_BENCH_REPORT"))
