-- wrk: whole flows against examples/tickets. Each first round's state is kept and answered by a later request of the
-- same thread, so sealing and opening are both under load. Counts what is not as it should be.
local meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' ..
  '"io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},' ..
  '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}'
local call = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"resolve_ticket","arguments":{"ticket":7},%s%s}}'
local answer = '"requestState":"%s","inputResponses":{"%s":{"action":"accept","content":{"resolution":"Fixed"}}},'

local threads = {}
function setup(thread) table.insert(threads, thread) end

function init()
  asked, finished, wrong, number = 0, 0, 0, 0
  example = ""
  waiting = {}
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Accept"] = "application/json, text/event-stream"
  wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
  wrk.headers["Mcp-Method"] = "tools/call"
  wrk.headers["Mcp-Name"] = "resolve_ticket"
end

function request()
  number = number + 1
  local flow = table.remove(waiting)
  local more = flow and string.format(answer, flow.state, flow.key) or ""
  return wrk.format(nil, nil, nil, string.format(call, number, more, meta))
end

function response(status, headers, body)
  local state = string.match(body, '"requestState":"([^"]+)"')
  local key = string.match(body, '"inputRequests":{"([^"]+)"')
  if status == 200 and state and key then
    asked = asked + 1
    table.insert(waiting, {state = state, key = key})
  elseif status == 200 and string.find(body, '"content":', 1, true) and string.find(body, "Fixed", 1, true) then
    finished = finished + 1
  else
    wrong = wrong + 1
    example = status .. " " .. string.sub(body, 1, 300)
  end
end

function done(summary, latency)
  local total = {asked = 0, finished = 0, wrong = 0}
  for _, thread in ipairs(threads) do
    for name in pairs(total) do total[name] = total[name] + thread:get(name) end
    local example = thread:get("example")
    if example ~= "" then io.write("wrong: ", example, "\n") end
  end
  local errors = summary.errors
  io.write(string.format("load: %d asked, %d finished, %d wrong, %d connect, %d read, %d write, %d timeout, %d status\n",
    total.asked, total.finished, total.wrong, errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
