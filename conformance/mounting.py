#!/usr/bin/env python3
"""A server inside a program's own event loop, and behind its own HTTP server: both examples play their game in two
rounds, and refuse what does not belong. Usage: mounting.py DIR_OF_PROGRAMS"""
# The way in that is no transport of ours keeps messages and patterns: B18.
import json
import os
import sys

from wire import HttpServer, Report, StdioServer, headers_of, message

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
    report.check("own_loop: ends with its input", server.process.returncode == 0, server.process.returncode)


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
