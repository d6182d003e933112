"""A server on the official Python SDK for our client: lists, a tool, two rounds, prompts and resources, with and without
a question in them (these only where the revision has rounds).

  fixture.py PORT    over HTTP; without it, on the standard streams
"""
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
from pydantic import BaseModel

server = MCPServer("python-fixture", log_level="ERROR")


class Value(BaseModel):
    v: str


def ask_first() -> Elicit[Value]:
    return Elicit("first?", Value)


def ask_second(first: Annotated[Value, Resolve(ask_first)]) -> Elicit[Value]:
    return Elicit("after %s, second?" % first.v, Value)


@server.tool()
def echo(text: str) -> str:
    return "echo:" + text


@server.tool()
def two_step(first: Annotated[Value, Resolve(ask_first)], second: Annotated[Value, Resolve(ask_second)]) -> str:
    return first.v + "+" + second.v


def name_or_question(ctx: Context):
    """The name that was answered, or the result that asks for it."""
    if ctx.input_responses is not None and ctx.request_state == "asked":
        return ctx.input_responses["user_name"].content["name"]
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    question = ElicitRequest(params=ElicitRequestFormParams(message="Name?", requested_schema=schema))
    return InputRequiredResult(input_requests={"user_name": question}, request_state="asked")


@server.prompt()
def greet(name: str) -> str:
    return "greet " + name


@server.prompt()
def ask_prompt(ctx: Context):
    name = name_or_question(ctx)
    return name if isinstance(name, InputRequiredResult) else "prompt for " + name


@server.resource("test://static")
def static() -> str:
    return "static-text"


@server.resource("test://ask/{what}")
def ask(what: str, ctx: Context):
    name = name_or_question(ctx)
    return name if isinstance(name, InputRequiredResult) else what + " for " + name


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run()
