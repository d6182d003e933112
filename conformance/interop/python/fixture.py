"""The official Python client against fixture_server: list, call, two rounds, a prompt, a resource, a cancellation.

  fixture.py MODE http URL            MODE: 2026-07-28, or `legacy` for the handshake
  fixture.py MODE stdio COMMAND...
"""
import json
import sys

import anyio
import mcp_types as types
from mcp import Client, StdioServerParameters

asked = 0


async def answer(_context, params):
    global asked
    asked += 1
    field = next(iter(params.requested_schema["properties"]))
    value = {"name": "Ada", "v": "one" if asked == 1 else "two"}[field]
    return types.ElicitResult(action="accept", content={field: value})


async def walk(client):
    async def call(name, arguments, **options):
        result = await client.call_tool(name, arguments, **options)
        return result.content[0].text

    tools = await client.list_tools()
    assert len(tools.tools) > 10, tools
    assert await call("echo", {"text": "grüße"}) == "echo:grüße"
    assert await call("two_step", {}) == "one+two" and asked == 2
    prompt = await client.get_prompt("greet", {"name": "Ada"})
    assert prompt.messages[0].content.text == "greet Ada", prompt
    prompt = await client.get_prompt("ask_prompt")
    assert prompt.messages[0].content.text == "prompt for Ada", prompt
    resource = await client.read_resource("test://static")
    assert resource.contents[0].text == "static-text", resource

    async def cancelled():
        return json.loads(await call("stats", {}))["slow_cancelled"]

    before, runs = await cancelled(), anyio.Event()

    async def progress(*_):
        runs.set()

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: call("slow", {"ms": 20000}, progress_callback=progress))
        await runs.wait()
        group.cancel_scope.cancel()
    with anyio.fail_after(10):
        while await cancelled() == before:
            await anyio.sleep(0.05)


async def main():
    mode, kind, *where = sys.argv[1:]
    server = where[0] if kind == "http" else StdioServerParameters(command=where[0], args=where[1:])
    with anyio.fail_after(40):
        async with Client(server, mode=mode, elicitation_callback=answer) as client:
            await walk(client)
    print("Python %s %s: list, call, two rounds, prompt, resource, cancellation" % (mode, kind))


anyio.run(main)
