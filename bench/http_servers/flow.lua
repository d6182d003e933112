-- wrk: whole flows of two rounds. The state of a first round is kept and answered by a later request of the same thread.
local meta = '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' ..
  '"io.modelcontextprotocol/clientInfo":{"name":"wrk","version":"1"},' ..
  '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}'
local head = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"transfer","arguments":{"amount":42,"to":"Ada"},'
local answer = '"inputResponses":{"confirm":{"action":"accept","content":{"sure":true}}},"requestState":"'

local threads = {}
function setup(thread) table.insert(threads, thread) end

function init()
  asked, finished, wrong = 0, 0, 0
  waiting = {}
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/json"
  wrk.headers["Accept"] = "application/json, text/event-stream"
  wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
  wrk.headers["Mcp-Method"] = "tools/call"
  wrk.headers["Mcp-Name"] = "transfer"
  first = wrk.format(nil, nil, nil, head .. meta)
end

function request()
  local state = table.remove(waiting)
  if not state then return first end
  return wrk.format(nil, nil, nil, head .. answer .. state .. '",' .. meta)
end

function response(status, headers, body)
  local state = string.match(body, '"requestState":"([^"]+)"')
  if status == 200 and state then
    asked = asked + 1
    table.insert(waiting, state)
  elseif status == 200 and string.find(body, "Transferred 42 to Ada.", 1, true) then
    finished = finished + 1
  else
    wrong = wrong + 1
  end
end

function done(summary)
  local finished, wrong = 0, 0
  for _, thread in ipairs(threads) do
    finished = finished + thread:get("finished")
    wrong = wrong + thread:get("wrong")
  end
  local errors = summary.errors
  io.write(string.format("bench: %d requests, %d errors\n", finished,
    wrong + errors.connect + errors.read + errors.write + errors.timeout))
end
