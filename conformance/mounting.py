#!/usr/bin/env python3
"""A server inside a program's own event loop, and behind its own HTTP server: both examples play their game in two
rounds, and refuse what does not belong. Usage: mounting.py DIR_OF_PROGRAMS"""
# The way in that is no transport of ours keeps messages and patterns: B18.
import json
import os
import socket
import sys

from wire import META, HttpServer, Report, StdioServer, eventually, headers_of, message

PLAY = {"name": "play", "arguments": {}}


def answered(first, number):
    return dict(PLAY, requestState=first["result"]["requestState"],
                inputResponses={"guess": {"action": "accept", "content": {"number": number}}})


def text(answer):
    return answer.get("result", {}).get("content", [{}])[0].get("text")


def own_loop(report, program):
    with StdioServer([program]) as server:
        report.check("own_loop: discovery", server.serves())
        first = server.ask(message("tools/call", PLAY))
        second = server.ask(message("tools/call", answered(first, 7), request_id=2))
        report.check("own_loop: two rounds", text(second) == "Yes!", second)
        server.send(b"{broken\n")
        broken = server.next()
        report.check("own_loop: a broken line", broken["error"]["code"] == -32700, broken)
        report.check("own_loop: goes on", server.serves())
        own_loop_cancels(report, server)
    report.check("own_loop: ends with its input", server.process.returncode == 0, server.process.returncode)


def notification(method, params=None):
    return {"jsonrpc": "2.0", "method": method, "params": params or {}}


def own_loop_cancels(report, server):
    """What is cancelled is not answered, its function is told to stop, and its id is free again."""
    waiting = message("tools/call", {"name": "wait", "arguments": {}}, request_id="w")
    waiting["params"]["_meta"] = dict(META, progressToken="p")
    server.send(json.dumps(waiting).encode() + b"\n")
    begun = server.next()
    report.check("own_loop: a long call has begun", begun.get("method") == "notifications/progress", begun)
    twice = server.ask(waiting)
    report.check("own_loop: an id in use", twice["error"]["code"] == -32600, twice)
    for request_id in ("nobody", "w"):
        server.send(json.dumps(notification("notifications/cancelled", {"requestId": request_id})).encode() + b"\n")
    report.check("own_loop: the function was told", eventually(lambda: b"told to stop\n" in server.log), server.log)
    listening = message("subscriptions/listen", {"notifications": {}}, request_id="w")
    server.send(json.dumps(listening).encode() + b"\n")
    acknowledged = server.next()
    report.check("own_loop: a subscription", acknowledged.get("method", "").endswith("acknowledged"), acknowledged)
    server.send(json.dumps(notification("notifications/cancelled", {"requestId": "w"})).encode() + b"\n")
    report.check("own_loop: nothing more of what was cancelled", server.serves())


def post_text(port, request, **changes):
    """The bytes of a POST."""
    body = json.dumps(request).encode()
    headers = dict({"Host": f"127.0.0.1:{port}"}, **headers_of(request))
    for name, value in changes.items():
        headers[name.replace("_", "-")] = value
    lines = [f"{name}: {one}" for name, value in headers.items() if value is not None
             for one in (value if isinstance(value, list) else [value])]
    return ("POST /mcp HTTP/1.1\r\n" + "\r\n".join(lines) + f"\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def status_of(server, request, **changes):
    changes.setdefault("Connection", "close")
    answer = server.raw(post_text(server.port, request, **changes))
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else answer


def own_http_heads(report, server):
    discover = message("server/discover")
    told = notification("notifications/cancelled")
    told_headers = {"Mcp_Method": None, "MCP_Protocol_Version": "2026-07-28"}
    own = f"127.0.0.1:{server.port}"
    report.check("own_http: its own name", status_of(server, discover) == 200)
    for name, request, changes, wanted in [
            ("a second Host", discover, {"Host": [own, "evil.example.com"]}, 403),
            ("the same Host twice", discover, {"Host": [own, own]}, 403),
            ("a foreign Host", discover, {"Host": "evil.example.com"}, 403),
            ("no JSON", discover, {"Content_Type": "text/plain"}, 415),
            ("JSON with a charset", discover, {"Content_Type": "Application/JSON; charset=utf-8"}, 200),
            ("no streams accepted", discover, {"Accept": "application/json"}, 406),
            ("a doubled version", discover, {"MCP_Protocol_Version": ["2026-07-28", "2026-07-28"]}, 400),
            ("a notification", told, told_headers, 202),
            ("a notification of an unknown revision", told, dict(told_headers, MCP_Protocol_Version="1999-01-01"), 400),
            ("a notification without a revision", told, {"Mcp_Method": None, "MCP_Protocol_Version": None}, 400)]:
        status = status_of(server, request, **changes)
        report.check("own_http: " + name, status == wanted, status)


def own_http_streams(report, server):
    """Clients that leave are noticed, and take nothing with them."""
    counting = message("tools/call", {"name": "count", "arguments": {"to": 2000000000}})
    counting["params"]["_meta"] = dict(META, progressToken="p")
    with socket.create_connection(("127.0.0.1", server.port), 10) as client:
        client.sendall(post_text(server.port, counting))
        head = client.recv(65536)
        report.check("own_http: a stream", head.startswith(b"HTTP/1.1 200") and b"text/event-stream" in head, head[:200])
    report.check("own_http: the function was told", server.logs("counted to where the client left"), server.log_text())

    few = message("tools/call", {"name": "count", "arguments": {"to": 20000}})
    few["params"]["_meta"] = dict(META, progressToken="p")
    status, last = server.post(json.dumps(few).encode(), headers_of(few))
    report.check("own_http: nothing is lost", status == 200 and text(last) == "Counted to 20000.", (status, last))

    listening = message("subscriptions/listen", {"notifications": {}})
    for _ in range(100):  # more than there are threads, and than subscriptions are taken
        with socket.create_connection(("127.0.0.1", server.port), 10) as client:
            client.sendall(post_text(server.port, listening))
    report.check("own_http: clients that left hold nothing", eventually(server.serves, 60))

    def listens():
        with socket.create_connection(("127.0.0.1", server.port), 10) as client:
            client.settimeout(10)
            client.sendall(post_text(server.port, listening))
            answer = b""
            while b"acknowledged" not in answer and b"error" not in answer:
                piece = client.recv(65536)
                if not piece:
                    return False
                answer += piece
            return b"acknowledged" in answer
    report.check("own_http: subscriptions are taken again", eventually(listens, 60))


def own_http(report, program):
    with HttpServer([program]) as server:
        report.check("own_http: discovery", server.serves())
        _, first = server.call("tools/call", PLAY)
        _, second = server.call("tools/call", answered(first, 6))
        report.check("own_http: two rounds", text(second) == "No, it was 7.", second)
        status, wrong = server.call("tools/call", PLAY, Mcp_Name="other")
        report.check("own_http: a header that differs", status == 400 and wrong["error"]["code"] == -32020, (status, wrong))
        status, wrong = server.post(json.dumps(message("no/method")).encode(), headers_of(message("no/method")))
        report.check("own_http: an unknown method", status == 404 and wrong["error"]["code"] == -32601, (status, wrong))
        status, _ = server.call("server/discover", Origin="https://evil.example.com")
        report.check("own_http: a foreign page", status == 403, status)
        own_http_heads(report, server)
        own_http_streams(report, server)


def main():
    report = Report()
    own_loop(report, sys.argv[1] + "/own_loop")
    program = sys.argv[1] + "/own_http"
    if os.path.exists(program):
        own_http(report, program)
    else:
        print("own_http is not built here (libcpp-httplib-dev)")
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
