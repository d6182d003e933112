#!/usr/bin/env python3
"""Input that no client should send gets the JSON-RPC error and the HTTP status the specification gives it, and the
server keeps serving. Usage: bad_input.py DIR_OF_PROGRAMS"""
import json
import sys

from wire import HttpServer, META, Report, StdioServer, headers_of, message

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, HEADER_MISMATCH = -32700, -32600, -32601, -32602, -32020

CALL = message("tools/call", {"name": "echo", "arguments": {"text": "x"}})


def changed(**members):
    """CALL with other members; None leaves one out."""
    request = dict(CALL, **members)
    return {name: value for name, value in request.items() if value is not None}


def params(**members):
    request = dict(CALL["params"], **members)
    return changed(params={name: value for name, value in request.items() if value is not None})


def meta(**members):
    changes = {"io.modelcontextprotocol/" + name: value for name, value in members.items()}
    return params(_meta={name: value for name, value in dict(META, **changes).items() if value is not None})


# name, bytes of the message, code, whether the answer names the request's id
BROKEN = [
    ("no JSON", b"hello", PARSE_ERROR, False),
    ("half a message", json.dumps(CALL).encode()[:-5], PARSE_ERROR, False),
    ("two messages in one", json.dumps(CALL).encode() * 2, PARSE_ERROR, False),
    ("a number that is none", b'{"jsonrpc":"2.0","id":01,"method":"tools/list"}', PARSE_ERROR, False),
    ("a byte order mark", b"\xef\xbb\xbf" + json.dumps(CALL).encode(), PARSE_ERROR, False),
    ("invalid UTF-8", json.dumps(CALL).encode().replace(b'"x"', b'"\xff\xfe"'), PARSE_ERROR, False),
    ("overlong UTF-8", json.dumps(CALL).encode().replace(b'"x"', b'"\xc0\x80"'), PARSE_ERROR, False),
    ("a surrogate in UTF-8", json.dumps(CALL).encode().replace(b'"x"', b'"\xed\xa0\x80"'), PARSE_ERROR, False),
    ("a depth bomb of arrays", json.dumps(CALL).encode().replace(b'"x"', b"[" * 200000 + b"]" * 200000), PARSE_ERROR, False),
    ("a depth bomb of objects", b'{"a":' * 200000, PARSE_ERROR, False),
    ("a member twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}', PARSE_ERROR, False),
    ("a string", b'"tools/list"', INVALID_REQUEST, False),
    ("an empty object", b"{}", INVALID_REQUEST, False),
    ("an empty batch", b"[]", INVALID_REQUEST, False),
    ("a batch", json.dumps([CALL, CALL]).encode(), INVALID_REQUEST, False),
    ("another jsonrpc", json.dumps(changed(jsonrpc="1.0")).encode(), INVALID_REQUEST, None),
    ("no jsonrpc", json.dumps(changed(jsonrpc=None)).encode(), INVALID_REQUEST, None),
    ("a method that is a number", json.dumps(changed(method=5)).encode(), INVALID_REQUEST, None),
    ("an id that is an object", json.dumps(changed(id={})).encode(), INVALID_REQUEST, False),
    ("an id that is a fraction", json.dumps(changed(id=1.5)).encode(), INVALID_REQUEST, False),
    ("an id that is null", json.dumps(CALL).replace('"id": 1', '"id": null').encode(), INVALID_REQUEST, False),
    ("params that are an array", json.dumps(changed(params=[1])).encode(), (INVALID_REQUEST, INVALID_PARAMS), None),
    ("params that are a string", json.dumps(changed(params="x")).encode(), (INVALID_REQUEST, INVALID_PARAMS), None),
]

# name, message, code, HTTP status (0: any)
REFUSED = [
    ("an unknown method", changed(method="tools/frobnicate"), METHOD_NOT_FOUND, 404),
    ("an unknown tool", params(name="no-such-tool"), INVALID_PARAMS, 0),
    ("a tool name that is a number", params(name=5), INVALID_PARAMS, 0),
    ("no tool name", params(name=None), INVALID_PARAMS, 0),
    ("arguments that are a string", params(arguments="x"), INVALID_PARAMS, 0),
    ("arguments that are an array", params(arguments=[]), INVALID_PARAMS, 0),
    ("a requestState that is a number", params(requestState=5), INVALID_PARAMS, 0),
    ("inputResponses that are an array", params(inputResponses=[]), INVALID_PARAMS, 0),
    ("no params", changed(params=None), INVALID_PARAMS, 400),
    ("no _meta", params(_meta=None), INVALID_PARAMS, 400),
    ("a _meta that is a string", params(_meta="x"), INVALID_PARAMS, 400),
    ("no protocol version", meta(protocolVersion=None), INVALID_PARAMS, 400),
    ("a protocol version that is a number", meta(protocolVersion=5), INVALID_PARAMS, 400),
    ("no client capabilities", meta(clientCapabilities=None), INVALID_PARAMS, 400),
    ("client capabilities that are an array", meta(clientCapabilities=[]), INVALID_PARAMS, 400),
]

# An argument that does not fit the input schema is the tool's error, or a refusal: the handler must not have run.
UNFIT = [("a number for a string", {"text": 5}), ("a missing argument", {}), ("null for a string", {"text": None})]


def is_error(answer, code, request_id):
    """request_id: the id that must be there, False for none, None for either."""
    codes = code if isinstance(code, tuple) else (code,)
    if not answer or answer.get("jsonrpc") != "2.0" or answer.get("error", {}).get("code") not in codes:
        return False
    if request_id is False:
        return "id" not in answer
    return request_id is None or answer.get("id") == request_id


def ran(answer):
    result = (answer or {}).get("result")
    return result is not None and not result.get("isError")


def over_http(report, program):
    with HttpServer([program]) as server:
        for name, body, code, _ in BROKEN:
            status, answer = server.post(body, headers_of(CALL))
            report.check("http: " + name, status == 400 and is_error(answer, code, None) and answer.get("id", 1) is not None,
                         (status, answer))
            report.check("http: serves after " + name, server.serves())
        for name, request, code, status_wanted in REFUSED:
            headers = headers_of(CALL)
            headers["Mcp-Method"] = request["method"]
            if isinstance(request.get("params"), dict) and isinstance(request["params"].get("name"), str):
                headers["Mcp-Name"] = request["params"]["name"]
            status, answer = server.post(json.dumps(request).encode(), headers)
            # A name that no header can mirror is a mismatch as well as a bad parameter.
            codes = (code, HEADER_MISMATCH) if "tool name" in name else code
            report.check("http: " + name, is_error(answer, codes, 1) and status in ((status_wanted,) if status_wanted else (200, 400)),
                         (status, answer))
        for name, arguments in UNFIT:
            status, answer = server.call("tools/call", {"name": "echo", "arguments": arguments})
            report.check("http: " + name, status in (200, 400) and not ran(answer), (status, answer))
        for header in ("MCP_Protocol_Version", "Mcp_Method", "Mcp_Name"):
            status, answer = server.call("tools/call", {"name": "echo", "arguments": {"text": "x"}}, **{header: None})
            report.check("http: without " + header, status == 400 and is_error(answer, HEADER_MISMATCH, 1), (status, answer))
        status, _ = server.call("tools/list", Content_Type="text/plain")
        report.check("http: another content type", status == 415, status)
        oversized(report, server)
        report.check("http: serves at the end", server.serves())
    report.check("http: ends when asked to", server.process.returncode == 0, server.process.returncode)


def oversized(report, server):
    """A body beyond the limit is refused before it is read, whether its size is announced or not."""
    head = "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n" % server.port
    head += "".join("%s: %s\r\n" % header for header in headers_of(CALL).items())
    answer = server.raw((head + "Content-Length: 4294967296\r\n\r\n{").encode())
    report.check("http: 4 GiB announced", b" 413 " in answer.split(b"\r\n")[0], answer[:200])
    chunks = (b"10000\r\n" + b" " * 65536 + b"\r\n") * 128
    answer = server.raw((head + "Transfer-Encoding: chunked\r\n\r\n").encode() + chunks)
    report.check("http: 8 MiB in chunks", b" 413 " in answer.split(b"\r\n")[0] or answer == b"", answer[:200])
    answer = server.raw((head + "X-Padding: " + "x" * (1 << 20) + "\r\nContent-Length: 0\r\n\r\n").encode())
    report.check("http: 1 MiB of headers", b" 431 " in answer.split(b"\r\n")[0] or answer == b"", answer[:200])
    report.check("http: serves after oversized requests", server.serves())


def over_stdio(report, program):
    with StdioServer([program]) as server:
        for name, body, code, _ in BROKEN:
            server.send(body + b"\n")
            answer = server.next()
            report.check("stdio: " + name, is_error(answer, code, None) and answer.get("id", 1) is not None, answer)
        report.check("stdio: serves after broken messages", server.serves())
        for name, request, code, _ in REFUSED:
            answer = server.ask(request)
            report.check("stdio: " + name, is_error(answer, code, 1), answer)
        for name, arguments in UNFIT:
            answer = server.ask(message("tools/call", {"name": "echo", "arguments": arguments}))
            report.check("stdio: " + name, not ran(answer), answer)
        server.send(b"\n  \n")
        server.send(b"x" * (16 << 20) + b"\n")
        answer = server.next()
        report.check("stdio: a line of 16 MiB", is_error(answer, (PARSE_ERROR, INVALID_REQUEST), False), answer)
        report.check("stdio: serves at the end", server.serves())
    report.check("stdio: ends with its input", server.process.returncode == 0, server.process.returncode)


def main():
    program = sys.argv[1] + "/fixture_server"
    report = Report()
    over_http(report, program)
    over_stdio(report, program)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
