#!/usr/bin/env python3
"""Servers that mean harm, and `signet` at a terminal in front of them: it ends, stays small, says what is wrong, and nothing
that a server writes plays on the terminal. Usage: hostile.py DIR_OF_PROGRAMS"""
import http.server
import itertools
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time

EVIL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x9b32m\u202egnp\x08\r\n\x7f"
STATE = "".join(chr(c) for c in range(1, 0x80)) + "é\u202e😀\\u0041"
STATE = (STATE * (2**20 // len(STATE.encode()) + 1))
RSS_MAX = 256 << 20  # bytes; the limit of one message is 16 MiB

FORM = {"type": "object", "properties": {"v" + EVIL: {"type": "string", "title": EVIL, "description": EVIL, "default": EVIL},
                                         "c": {"type": "string", "enum": [EVIL, "b"], "enumNames": [EVIL, EVIL]}}}


def complete(text="done"):
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}


def asks(key="k", message="?", schema=None, state="s"):
    question = {"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema or FORM}}
    return {"resultType": "input_required", "inputRequests": {key: question}, "requestState": state}


# What a call of the tool of that name gets: its result, or a list of whole messages.
def answer(tool, request, number):
    params, id = request["params"], request["id"]
    responses = params.get("inputResponses")
    if tool == "endless":
        return asks()
    if tool == "changing":
        return asks("k%d" % (number % 3), "question %d" % number, {"type": "object", "properties": {"f%d" % number: {"type": "string"}}})
    if tool == "sheds":
        return {"resultType": "input_required", "requestState": "again"}
    if tool == "huge":
        start, end = json.dumps({"jsonrpc": "2.0", "id": id, "result": complete("|")}).encode().split(b"|")
        return [itertools.chain([start], itertools.repeat(b"x" * 1_000_000, 100), [end])]
    if tool == "huge_type":
        return {"resultType": "x" * 15_000_000}
    if tool == "unknown_type":
        return {"resultType": EVIL}
    if tool == "doubled":
        return [{"jsonrpc": "2.0", "id": id, "result": complete("first")}, {"jsonrpc": "2.0", "id": id, "result": complete("second")}]
    if tool == "others":
        return [{"jsonrpc": "2.0", "id": other, "result": complete("wrong")} for other in (id + 1, str(id), 0, -1)] + \
            [{"jsonrpc": "2.0", "id": id, "result": complete("right")}]
    if tool == "state":
        if responses is None:
            return asks("k", "?", {"type": "object", "properties": {}}, STATE)
        return complete("same" if params["requestState"] == STATE else "changed")
    if tool == "question":
        return complete(EVIL) if responses else asks("k" + EVIL, EVIL)
    if tool == "error":
        return [{"jsonrpc": "2.0", "id": id, "error": {"code": -32000, "message": EVIL, "data": EVIL}}]
    if tool == "capability":
        return [{"jsonrpc": "2.0", "id": id, "error": {"code": -32021, "message": EVIL, "data": {EVIL: EVIL}}}]
    if tool == "url":
        if responses:
            return complete(responses["u"]["action"])
        return {"resultType": "input_required", "inputRequests": {"u": {"method": "elicitation/create", "params": {
            "mode": "url", "message": EVIL, "url": "https://a.example/" + EVIL}}}}
    if tool == "chatty":
        token = params["_meta"].get("progressToken")
        return [{"jsonrpc": "2.0", "method": "notifications/progress",
                 "params": {"progressToken": token, "progress": n, "total": 9, "message": EVIL}} for n in range(9)] + \
            [{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": EVIL, "data": EVIL}},
             {"jsonrpc": "2.0", "id": id, "result": complete(EVIL)}]
    if tool == "sampling":
        return {"resultType": "input_required", "inputRequests": {"s" + EVIL: {"method": "sampling/createMessage", "params": {"messages": []}}}}
    if tool == "deep":
        return [[b"[" * 100_000]]
    return complete()


def replies(request, count):
    """The messages that answer a request, each as pieces of bytes."""
    method = request["method"]
    if method == "server/discover":
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "prompts": {}, "resources": {}},
                  "_meta": {"io.modelcontextprotocol/serverInfo": {"name": EVIL, "version": EVIL}}}
    elif method == "tools/list":
        result = {"resultType": "complete", "tools": [
            {"name": EVIL, "title": EVIL, "description": EVIL, "inputSchema": {"type": "object", "properties": {EVIL: {"type": EVIL}}}},
            {"name": "bad" + EVIL, "inputSchema": {"type": "object", "properties": {"a": {"type": "number", "x-mcp-header": EVIL}}}},
            {"name": "shaped", "inputSchema": {"type": "object"}, "outputSchema": {"type": "object", "required": [EVIL]}}]}
    elif method == "prompts/list":
        result = {"resultType": "complete", "prompts": [{"name": EVIL, "description": EVIL, "arguments": [{"name": EVIL}]}]}
    elif method == "resources/list":
        result = {"resultType": "complete", "resources": [{"uri": "x:" + EVIL, "name": EVIL, "mimeType": EVIL}]}
    elif method == "resources/templates/list":
        result = {"resultType": "complete", "resourceTemplates": [{"uriTemplate": "x:{a}" + EVIL, "name": EVIL}]}
    elif method == "prompts/get":
        result = {"resultType": "complete", "messages": [{"role": EVIL, "content": {"type": EVIL, "text": EVIL}},
                                                         {"role": "user", "content": {"type": "text", "text": EVIL}}]}
    elif method == "resources/read":
        result = {"resultType": "complete", "contents": [{"uri": EVIL, "mimeType": EVIL, "blob": "AA=="}, {"uri": EVIL, "text": EVIL}]}
    elif request["params"]["name"] == "shaped":
        result = dict(complete(EVIL), structuredContent={"x": EVIL})
    else:
        result = answer(request["params"]["name"], request, count)
    whole = result if isinstance(result, list) else [{"jsonrpc": "2.0", "id": request["id"], "result": result}]
    return [[json.dumps(one).encode()] if isinstance(one, dict) else one for one in whole]


def serve_stdio():
    count = 0
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        count += 1
        if request["method"] == "tools/call" and request["params"]["name"] == "dies":
            os.write(1, b'{"jsonrpc":"2.0","id":1,"resu')
            os.kill(os.getpid(), signal.SIGKILL)
        for reply in replies(request, count):
            try:
                for piece in itertools.chain(reply, [b"\n"]):
                    sys.stdout.buffer.write(piece)
                sys.stdout.buffer.flush()
            except BrokenPipeError:
                return


class Hostile(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls += 1
        tool = request["params"].get("name", "") if request["method"] == "tools/call" else ""
        if tool == "redirected":
            self.send_response(307)
            self.send_header("Location", "https://evil.example/\x9b31m")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        if tool == "challenge":
            self.send_response(401, "\x9b31mowned")
            self.send_header("WWW-Authenticate", "Bearer realm=\"\x9b31m\"")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            if tool == "dies":
                return self.wfile.write(b'data: {"jsonrpc":"2.0","id":1,"resu')
            if tool == "drips":
                self.server.calls = 0
                while True:
                    self.wfile.write(b": still there\n\n")
                    time.sleep(0.05)
            for reply in replies(request, self.server.calls):
                for piece in itertools.chain([b"data: "], reply, [b"\n\n"]):
                    self.wfile.write(piece)
        except OSError:
            pass

    def log_message(self, *_):
        pass


class Seen:
    """A command of signet that ran at a terminal: what it showed, how it ended, and how large it grew."""

    def __init__(self, command, environment=None):
        started = time.monotonic()
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(command[0], command, dict(os.environ, TERM="xterm", NO_COLOR="1", **(environment or {})))
        shown = b""
        while time.monotonic() < started + 60:
            ready, _, _ = select.select([terminal], [], [], 60)
            try:
                got = os.read(terminal, 65536) if ready else b""
            except OSError:
                got = b""
            if not got:
                break
            shown += got
        _, status, usage = os.wait4(pid, 0)
        os.close(terminal)
        self.code = os.waitstatus_to_exitcode(status)
        self.shown = shown.decode("utf-8", "surrogateescape")
        self.rss = usage.ru_maxrss * 1024
        self.seconds = time.monotonic() - started


def check_harmless(seen):
    # What signet itself writes: its own way to clear a progress line, and line ends.
    text = seen.shown.replace("\r\n", "\n").replace("\r\x1b[K", "")
    bad = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\udc80-\udcff]", text)
    assert not bad, "%r reached the terminal in %r" % (bad.group(), text[max(0, bad.start() - 80):bad.start() + 40])


class Hostilities:
    def __init__(self, programs):
        self.signet = os.path.join(os.path.abspath(programs), "signet")
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hostile)
        self.server.daemon_threads = True
        self.server.calls = 0
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.targets = {"http": ["http://127.0.0.1:%d/mcp" % self.server.server_port],
                        "stdio": ["--", sys.executable, "-B", os.path.abspath(__file__), "--server", "--"]}

    def run(self, over, command, *words, code, says=(), seconds=30):
        seen = Seen([self.signet, command, *self.targets[over], *words])
        where = "%s %s over %s" % (command, " ".join(words)[:40], over)
        assert seen.code == code, "%s: exit code %d, not %d: %s" % (where, seen.code, code, seen.shown[-500:])
        for text in says:
            assert text in seen.shown, "%s: no %r in %s" % (where, text, seen.shown[-500:])
        assert len(seen.shown) < 200_000, "%s: %d bytes shown" % (where, len(seen.shown))
        assert seen.rss < RSS_MAX, "%s: %d MB" % (where, seen.rss >> 20)
        assert seen.seconds < seconds, "%s: %d s" % (where, seen.seconds)
        check_harmless(seen)

    def scenes(self):
        def call(tool, *options, **wanted):
            return lambda over: self.run(over, "call", tool, *options, **wanted)
        yes = ("--yes", "--answer", "v=1")
        return {
            "endless rounds": call("endless", *yes, code=1, says=["more than 10 times"]),
            "changing questions": call("changing", *yes, code=1, says=["more than 10 times"]),
            "sheds load for ever": call("sheds", code=1, says=["more than 10 times"]),
            "100 MB": call("huge", code=3, says=["longer than"]),
            "a type of 15 MB": call("huge_type", code=3, says=["unknown type"]),
            "an unknown type": call("unknown_type", code=3, says=["unknown type"]),
            "an id twice": call("doubled", code=0, says=["first"]),
            "answers to other calls": call("others", code=0, says=["right"]),
            "a stream that is cut": call("dies", code=3, says=["may have been carried out"]),
            "a state of 1 MiB": call("state", "--yes", code=0, says=["same"]),
            "nested too deep": lambda over: self.run(over, "call", "deep", "--timeout", "1", code=3 if over == "http" else 1),
            "an error": call("error", code=1, says=["-32000"]),
            "an error on a pipe": call("error", "--json", code=1, says=["-32000"]),
            "a capability": call("capability", code=1),
            "output out of shape": lambda over: self.run(over, "call", "shaped", "a=1", code=1, says=["schema"]),
            "a question": call("question", *yes, code=0),
            "a question that is saved": call("question", "--force", "--save", "/dev/shm/signet-hostile-%d" % os.getpid(), code=5),
            "a question that is refused": call("sampling", code=4),
            "a link": call("url", "--yes", code=4, says=["no address has"]),
            "progress and log": call("chatty", "--log-level", "debug", "--verbose", code=0),
            "a trace": lambda over: self.run(over, "trace", "question", *yes, code=0, says=["result of tools/call"]),
            "a list": lambda over: self.run(over, "list", "--verbose", code=0, says=["Tools", "Prompts", "Resources"]),
            "a list as JSON": lambda over: self.run(over, "list", "--json", code=0),
            "a prompt": lambda over: self.run(over, "prompt", "p", code=0),
            "a resource": lambda over: self.run(over, "read", "x:y", code=0),
        }

    def http_scenes(self):
        return {
            "a redirection": lambda over: self.run(over, "call", "redirected", code=3, says=["redirects"]),
            "a challenge": lambda over: self.run(over, "call", "challenge", code=3, says=["401"]),
            "a stream without end": lambda over: self.run(over, "call", "drips", "--timeout", "1", code=1, says=["too long"]),
        }


def main():
    signal.alarm(240)
    hostilities = Hostilities(sys.argv[1])
    only = sys.argv[2:]
    passed = failed = 0
    scenes = [(over, name, scene) for over in ("http", "stdio") for name, scene in hostilities.scenes().items()]
    scenes += [("http", name, scene) for name, scene in hostilities.http_scenes().items()]
    for over, name, scene in scenes:
        if only and name not in only:
            continue
        try:
            scene(over)
            passed += 1
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print("FAIL %s (%s): %s" % (name, over, error))
    saved = "/dev/shm/signet-hostile-%d" % os.getpid()
    if os.path.exists(saved):
        os.unlink(saved)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--server"]:
        serve_stdio()
    else:
        sys.exit(main())
