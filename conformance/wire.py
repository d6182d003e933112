"""What the tests of this folder share: starting a server of ours and talking to it in plain bytes. Standard library only."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading
import time

VERSION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(holds, seconds=20):
    """Whether that comes to hold within the time, which is for machines that are slow."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if holds():
                return True
        except OSError:
            pass
        time.sleep(0.05)
    return False


def message(method, params=None, request_id=1):
    """A modern request."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params or {}, _meta=META)}


def headers_of(request):
    """The headers that the specification wants beside it."""
    params = request.get("params") or {}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
               "MCP-Protocol-Version": VERSION, "Mcp-Method": request["method"]}
    name = params.get("uri" if request["method"] == "resources/read" else "name")
    if name is not None:
        headers["Mcp-Name"] = name
    return headers


def last_message(content_type, body):
    """The JSON-RPC message of a body, the last one where it is an event stream; None where there is none."""
    text = body.decode("utf-8")
    if content_type.startswith("text/event-stream"):
        data = [line[5:] for line in text.splitlines() if line.startswith("data:") and line[5:].strip()]
        text = data[-1] if data else ""
    elif not content_type.startswith("application/json"):
        return None
    return json.loads(text) if text.strip() else None


class HttpServer:
    """A program with `--http --port N`, from its first listening to the end of the `with` block."""

    def __init__(self, command, environment=None):
        self.port = free_port()
        self.process = subprocess.Popen(command + ["--http", "--port", str(self.port)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        env=dict(os.environ, **(environment or {})))
        self.log = []
        self.reader = threading.Thread(target=self._read_log, daemon=True)
        self.reader.start()
        if not eventually(lambda: self.process.poll() is not None or self._listens()) or self.process.poll() is not None:
            raise SystemExit("the server did not start:\n" + self.log_text())

    def _read_log(self):
        for line in self.process.stderr:
            self.log.append(line.decode("utf-8", "replace"))

    def _listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
            return True
        except OSError:
            return False

    def log_text(self):
        return "".join(self.log)

    def logs(self, text):
        """Whether that comes to stand in the log."""
        return eventually(lambda: text in self.log_text())

    def post(self, body, headers):
        """(status, message); `body` in bytes, whole."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)
        try:
            connection.request("POST", "/mcp", body, headers)
            response = connection.getresponse()
            return response.status, last_message(response.getheader("Content-Type", ""), response.read())
        finally:
            connection.close()

    def call(self, method, params=None, **changes):
        """Posts a modern request; `changes` are headers to set, or to leave out where None."""
        request = message(method, params)
        headers = headers_of(request)
        for name, value in changes.items():
            headers.pop(name.replace("_", "-"), None)
            if value is not None:
                headers[name.replace("_", "-")] = value
        return self.post(json.dumps(request).encode(), headers)

    def raw(self, data, seconds=10):
        """Sends bytes, and returns what comes back until the server closes, falls silent for 1 s, or time is up."""
        with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
            connection.settimeout(1)
            try:
                connection.sendall(data)
            except OSError:
                pass  # refused while we were sending: what it says is what counts
            answer, deadline = b"", time.monotonic() + seconds
            while time.monotonic() < deadline:
                try:
                    piece = connection.recv(65536)
                except OSError:
                    break
                if not piece:
                    break
                answer += piece
            return answer

    def serves(self):
        status, answer = self.call("server/discover")
        return self.process.poll() is None and status == 200 and "result" in answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join(5)


class StdioServer:
    """A program that speaks on its standard input and output."""

    def __init__(self, command, environment=None):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=dict(os.environ, **(environment or {})))
        self.lines, self.log = [], []
        self.arrived = threading.Condition()
        threading.Thread(target=self._read_lines, daemon=True).start()
        threading.Thread(target=lambda: self.log.extend(self.process.stderr), daemon=True).start()

    def _read_lines(self):
        for line in self.process.stdout:
            with self.arrived:
                self.lines.append(json.loads(line))
                self.arrived.notify_all()

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def next(self, seconds=15):
        """The next message it wrote, or None."""
        with self.arrived:
            self.arrived.wait_for(lambda: self.lines, seconds)
            return self.lines.pop(0) if self.lines else None

    def ask(self, request):
        self.send(json.dumps(request).encode() + b"\n")
        return self.next()

    def serves(self):
        answer = self.ask(message("server/discover", request_id="still-there"))
        return answer is not None and answer.get("id") == "still-there" and "result" in answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def play(subject, scenes):
    """Runs methods of `subject` by their names, and says of each how it went; the exit code."""
    failed = 0
    for scene in scenes:
        try:
            getattr(subject, scene)()
            print("pass", scene)
        except (AssertionError, OSError, subprocess.SubprocessError) as error:
            failed += 1
            print("FAIL", scene, error)
    print("%d passed, %d failed" % (len(scenes) - failed, failed))
    return 1 if failed else 0


class Report:
    """Counts what held and what did not."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, name, holds, seen=""):
        self.passed += bool(holds)
        self.failed += not holds
        if not holds:
            print("FAILED: %s: %s" % (name, str(seen)[:400]))

    def close(self):
        print("%d passed, %d failed" % (self.passed, self.failed))
        return 1 if self.failed or not self.passed else 0
