-- wrk: one tools/call over and over, the same bytes each time.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = "add"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add",' ..
  '"arguments":{"a":19,"b":23,"note":"the bench"},' ..
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",' ..
  '"io.modelcontextprotocol/clientInfo":{"name":"wrk","version":"1"},' ..
  '"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}'

function done(summary)
  local errors = summary.errors
  io.write(string.format("bench: %d requests, %d errors\n", summary.requests,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
