#!/usr/bin/env python3
"""Attacks on an HTTP server, one after another: none of them stops it, makes it grow without bound, or keeps others from
being served. doc/attacks.md has the table. Usage: abuse.py DIR_OF_PROGRAMS"""
import json
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from wire import HttpServer, Report, StdioServer, eventually, headers_of, last_message, message

ECHO = message("tools/call", {"name": "echo", "arguments": {"text": "x"}})
RSS_MAX = 256 << 20  # bytes; far above what the server needs, far below what unbounded queues would take


def head_of(request, port, **more):
    """The header block of a POST, without its end."""
    lines = ["POST /mcp HTTP/1.1", "Host: 127.0.0.1:%d" % port]
    return "\r\n".join(lines + ["%s: %s" % header for header in dict(headers_of(request), **more).items()])


def whole(request, port):
    body = json.dumps(request).encode()
    return ("%s\r\nContent-Length: %d\r\n\r\n" % (head_of(request, port), len(body))).encode() + body


def connect(port):
    return socket.create_connection(("127.0.0.1", port), 10)


def rss(server):
    with open("/proc/%d/status" % server.process.pid, encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def read_answer(connection):
    """(status, message) of one response with a Content-Length."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return None, None
        data += piece
    head, body = data.split(b"\r\n\r\n", 1)
    fields = {name.strip().lower(): value.strip() for name, value in
              (line.split(":", 1) for line in head.decode("latin-1").split("\r\n")[1:])}
    while len(body) < int(fields.get("content-length", 0)):
        body += connection.recv(65536)
    return int(head.split()[1]), last_message(fields.get("content-type", ""), body)


def text(answer):
    return ((answer or {}).get("result") or {}).get("content", [{}])[0].get("text")


def idle_connections(server, report):
    """Ten thousand connections that say nothing: who was connected before is served, and so is everybody afterwards."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard, 10500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    held = []
    with connect(server.port) as early:
        early.sendall(whole(ECHO, server.port))
        report.check("a connection before the flood", text(read_answer(early)[1]) == "echo:x")
        try:
            for _ in range(wanted - 300):
                held.append(connect(server.port))
        except OSError:
            pass  # refused: that is an answer, too
        early.sendall(whole(ECHO, server.port))
        report.check("it is served during %d idle connections" % len(held), text(read_answer(early)[1]) == "echo:x")
    grown = rss(server)
    report.check("idle connections cost little", grown < RSS_MAX, grown)
    for connection in held:
        connection.close()
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    report.check("others are served after the flood", eventually(server.serves))


def slow_bodies(server, report):
    """Two hundred requests whose bodies come a byte at a time."""
    body = json.dumps(ECHO).encode()
    drips = [connect(server.port) for _ in range(200)]
    for drip in drips:
        drip.sendall(("%s\r\nContent-Length: %d\r\n\r\n" % (head_of(ECHO, server.port), len(body))).encode())
    for place in range(20):
        for drip in drips:
            drip.sendall(body[place:place + 1])
        report.check("served beside slow bodies", server.serves())
    drips[0].sendall(body[20:])
    report.check("a slow body is a body all the same", text(read_answer(drips[0])[1]) == "echo:x")
    for drip in drips:
        drip.close()


def smuggling(server, report):
    """A request inside what another server in front might have taken for a body: refused, and the connection closed."""
    inner = whole(dict(ECHO, id="smuggled"), server.port)
    head = head_of(ECHO, server.port)
    chunked = b"0\r\n\r\n" + inner
    attempts = {
        "length and chunks": head + "\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        "two lengths": head + "\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        "a length list": head + "\r\nContent-Length: 5, 5\r\n\r\n",
        "a signed length": head + "\r\nContent-Length: +5\r\n\r\n",
        "an unknown encoding": head + "\r\nTransfer-Encoding: gzip\r\n\r\n",
        "chunked, but not last": head + "\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
        "a space before the colon": head + "\r\nTransfer-Encoding : chunked\r\n\r\n",
        "no host": head.replace("Host: 127.0.0.1:%d\r\n" % server.port, "") + "\r\nTransfer-Encoding: chunked\r\n\r\n",
        "two hosts": head + "\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        "a bare line feed": head.replace("\r\n", "\n") + "\nContent-Length: 5\n\n",
    }
    for name, start in attempts.items():
        answer = server.raw(start.encode() + chunked, seconds=3)
        status = answer.split(b" ")[1:2]
        refused = answer == b"" or (status and status[0] in (b"400", b"403", b"411", b"501"))
        report.check("smuggling: " + name, refused and b"smuggled" not in answer, answer[:300])
    report.check("serves after smuggling", server.serves())


def chunk_overhead(server, report):
    """What stands around the chunks of a body is limited, too, and a trailer says nothing."""
    body = json.dumps(ECHO).encode()
    head = (head_of(ECHO, server.port) + "\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
    chunk = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    for name, data in {"an extension of 32 MiB": b"1;" + b"x" * (32 << 20),
                       "a trailer of 32 MiB": chunk + b"X: " + b"x" * (32 << 20),
                       "a whole trailer of 1 MiB": chunk + b"X: " + b"x" * (1 << 20) + b"\r\n\r\n",
                       "small extensions, many": b"1;" .join([b"", *[b"x" * 1000 + b"\r\n \r\n"] * 100])}.items():
        answer = server.raw(head + data)
        report.check(name, answer == b"" or b" 431 " in answer.split(b"\r\n")[0], answer[:200])
        report.check("serves after " + name, server.process.poll() is None and server.serves(), server.log_text()[-300:])
    answer = server.raw(head + chunk + b"Host: evil.example.com\r\nMcp-Name: other\r\n\r\n")
    report.check("a trailer is no header", b"echo:x" in answer, answer[:300])
    report.check("chunk overhead costs little", rss(server) < RSS_MAX, rss(server))


def foreign_pages(server, report):
    for name, headers in {"a foreign Origin": {"Origin": "https://evil.example.com"},
                          "a foreign Host": {"Host": "evil.example.com"},
                          "a Host that begins like ours": {"Host": "127.0.0.1.evil.example.com"},
                          "a null Origin": {"Origin": "null"}}.items():
        status, _ = server.call("server/discover", **headers)
        report.check(name, status == 403, status)


def id_collisions(server, report):
    """Fifty requests at once, all with the same id, each with its own answer."""
    answers = [None] * 50

    def call(place):
        request = message("tools/call", {"name": "echo", "arguments": {"text": "t%d" % place}})
        answers[place] = text(server.post(json.dumps(request).encode(), headers_of(request))[1])

    threads = [threading.Thread(target=call, args=(place,)) for place in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    report.check("equal ids do not mix answers", answers == ["echo:t%d" % place for place in range(50)], answers)


def subscription_flood(server, report):
    """More streams than are allowed: the ones above are refused, the ones below and all calls go on."""
    listen = message("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
    streams = []
    for _ in range(900):
        stream = connect(server.port)
        stream.sendall(whole(listen, server.port))
        streams.append(stream)
    first = streams[0].recv(65536)
    report.check("a stream is acknowledged", b"subscriptions/acknowledged" in first, first[:300])
    report.check("calls are served beside 900 streams", server.serves())
    server.call("tools/call", {"name": "bump", "arguments": {}})
    streams[0].settimeout(10)
    seen = first
    while b"tools/list_changed" not in seen:
        piece = streams[0].recv(65536)
        if not piece:
            break
        seen += piece
    report.check("and news still reach them", b"tools/list_changed" in seen, seen[-300:])
    report.check("streams cost little", rss(server) < RSS_MAX, rss(server))
    for stream in streams:
        stream.close()
    report.check("serves after the flood", eventually(server.serves))


def blocking_handlers(server, report):
    """24 tools that sleep: a fast one is answered while they do."""
    done = []

    def sleep():
        server.call("tools/call", {"name": "slow", "arguments": {"ms": 300}})
        done.append(1)

    threads = [threading.Thread(target=sleep) for _ in range(24)]
    for thread in threads:
        thread.start()
    fast = 0
    while len(done) < 24 and any(thread.is_alive() for thread in threads):
        fast += text(server.call("tools/call", {"name": "echo", "arguments": {"text": "x"}})[1]) == "echo:x"
    for thread in threads:
        thread.join()
    report.check("blocking tools hold up nobody", fast > 0 and len(done) == 24, (fast, len(done)))


def reader_that_does_not_read(server, report):
    """Asks for ever and reads nothing: it is cut off or not read any more, and nothing piles up."""
    with connect(server.port) as deaf:
        deaf.settimeout(2)
        one = whole(message("tools/call", {"name": "echo", "arguments": {"text": "y" * 60000}}), server.port)
        sent = 0
        try:
            while sent < 512 << 20:
                deaf.sendall(one)
                sent += len(one)
        except OSError:
            pass
        report.check("a reader that does not read fills no memory", rss(server) < RSS_MAX, (sent, rss(server)))
    report.check("serves after it", server.serves())


def tool_that_tells_without_end(server, report):
    """In a session, whose stream stays when its client has gone; and to a client that does not read."""
    steps = {"name": "steps", "arguments": {"steps": 2000000000}}
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}}
    with connect(server.port) as client:
        body = json.dumps(hello).encode()
        client.sendall(("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nAccept: application/json, "
                        "text/event-stream\r\nContent-Length: %d\r\n\r\n" % (server.port, len(body))).encode() + body)
        head = client.recv(65536).decode("latin-1")
    session = next(line.split(":", 1)[1].strip() for line in head.split("\r\n") if line.lower().startswith("mcp-session-id"))
    telling = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                          "params": dict(steps, _meta={"progressToken": "p"})}).encode()
    fields = ("Host: 127.0.0.1:%d\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
              "Mcp-Session-Id: %s\r\n" % (server.port, session))
    with connect(server.port) as client:
        client.sendall(("POST /mcp HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n" % (fields, len(telling))).encode() + telling)
        report.check("a tool tells", b"notifications/progress" in client.recv(65536) + client.recv(65536))
    modern = message("tools/call", steps)
    modern["params"]["_meta"] = dict(modern["params"]["_meta"], progressToken="p")
    with connect(server.port) as silent:
        silent.sendall(whole(modern, server.port))
        served = [text(server.call("tools/call", ECHO["params"])[1]) for _ in range(200)]
        report.check("others are served beside tools that tell without end", served == ["echo:x"] * 200, served)
        report.check("what they tell fills no memory", rss(server) < RSS_MAX, rss(server))
    deleted = server.raw(("DELETE /mcp HTTP/1.1\r\n%sConnection: close\r\n\r\n" % fields).encode())
    report.check("the session ends", b" 204 " in deleted.split(b"\r\n")[0], deleted[:200])


def killed_in_mid_flow(programs, report):
    """kill -9 between two rounds: the process that is started next finishes what the dead one asked."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([programs + "/signet", "keys", "generate", folder + "/ring.json"], check=True,
                       stdout=subprocess.DEVNULL)
        command = [programs + "/fixture_server", "--ring", folder + "/ring.json"]
        call = {"name": "transfer", "arguments": {"amount": 5, "to": "bo"}}
        with HttpServer(command) as doomed:
            _, asked = doomed.call("tools/call", call)
            doomed.process.send_signal(signal.SIGKILL)
            doomed.process.wait()
        answered = dict(call, requestState=asked["result"]["requestState"],
                        inputResponses={"confirm": {"action": "accept", "content": {"ok": True}}})
        with HttpServer(command) as next_one:
            _, finished = next_one.call("tools/call", answered)
        report.check("a restart in mid-flow", text(finished) == "transferred 5 to bo", finished)


def function_that_does_not_return(programs, report):
    """It holds the process that was asked to end: the log says so, and a second signal ends it at once."""
    for how in ("--http", "stdio"):
        server = HttpServer([programs + "/fixture_server"]) if how == "--http" else StdioServer([programs + "/fixture_server"])
        with server:
            deaf = message("tools/call", {"name": "deaf", "arguments": {"ms": 600000}})
            deaf["params"]["_meta"] = dict(deaf["params"]["_meta"], progressToken="p")
            if how == "--http":
                client = connect(server.port)
                client.sendall(whole(deaf, server.port))
                begun = b""
                while b"notifications/progress" not in begun:
                    begun += client.recv(65536)
            else:
                begun = server.ask(deaf)
            report.check(how + ": the function runs", begun, begun)
            server.process.send_signal(signal.SIGTERM)
            waits = eventually(lambda: "shutdown_waits" in log_of(server), 60)
            report.check(how + ": the log says what holds the process", waits, log_of(server))
            report.check(how + ": it waits for the function", server.process.poll() is None, server.process.poll())
            server.process.send_signal(signal.SIGTERM)
            report.check(how + ": a second signal ends it", eventually(lambda: server.process.poll() == -signal.SIGTERM),
                         server.process.poll())


def log_of(server):
    return "".join(line if isinstance(line, str) else line.decode() for line in list(server.log))


def main():
    programs = sys.argv[1]
    report = Report()
    with HttpServer([programs + "/fixture_server"]) as server:
        for attack in (foreign_pages, smuggling, chunk_overhead, id_collisions, blocking_handlers, slow_bodies, subscription_flood,
                       reader_that_does_not_read, tool_that_tells_without_end, idle_connections):
            attack(server, report)
            report.check("alive after " + attack.__name__, server.process.poll() is None, server.log_text()[-500:])
    report.check("ends when asked to", server.process.returncode == 0, server.process.returncode)
    killed_in_mid_flow(programs, report)
    function_that_does_not_return(programs, report)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
