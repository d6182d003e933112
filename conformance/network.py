#!/usr/bin/env python3
"""`signet` across a network that has certificates and proxies: an authority of the test's own, a wrong host name, an
expired certificate; a proxy for plain addresses (absolute URI) and one for TLS (CONNECT). Usage: network.py DIR_OF_PROGRAMS"""
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

from wire import play


class Mcp(http.server.BaseHTTPRequestHandler):
    """A server with one tool, over plain HTTP or TLS."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        self.answer(200, {"authorization_servers": ["https://sign.in.example"]})

    def do_POST(self):
        if self.server.challenge is not None:
            self.server.seen.append((self.path, dict(self.headers)))
            self.rfile.read(int(self.headers["Content-Length"]))
            return self.answer(401, {}, self.server.challenge)
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers)))
        result = {"resultType": "complete"}
        if message["method"] == "server/discover":
            result.update(supportedVersions=["2026-07-28"], capabilities={"tools": {}})
        else:
            result.update(content=[{"type": "text", "text": "over the wire"}])
        self.answer(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def answer(self, status, document, challenge=""):
        body = json.dumps(document).encode()
        self.send_response(status)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Proxy(http.server.BaseHTTPRequestHandler):
    """Sends everything to the one server it knows, whatever its name."""
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.server.seen.append((self.requestline, dict(self.headers)))
        if self.server.status != 200:
            return self.refuse()
        with socket.create_connection(("127.0.0.1", self.server.behind)) as there:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            path = "/" + self.path.split("/", 3)[3]
            head = "POST %s HTTP/1.1\r\n%sConnection: close\r\n\r\n" % (
                path, "".join("%s: %s\r\n" % field for field in self.headers.items()
                              if field[0].lower() not in ("connection", "proxy-authorization")))
            there.sendall(head.encode() + body)
            answer = b""
            while got := there.recv(65536):
                answer += got
        self.wfile.write(answer.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        self.close_connection = True

    def do_CONNECT(self):
        self.server.seen.append((self.requestline, dict(self.headers)))
        if self.server.status != 200:
            return self.refuse()
        there = socket.create_connection(("127.0.0.1", self.server.behind))
        self.send_response(200, "Connected")
        self.end_headers()
        one = threading.Thread(target=self.pump, args=(self.connection, there), daemon=True)
        one.start()
        self.pump(there, self.connection)
        one.join()
        there.close()
        self.close_connection = True

    def refuse(self):
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    @staticmethod
    def pump(source, sink):
        try:
            while got := source.recv(65536):
                sink.sendall(got)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def log_message(self, *_):
        pass


def serve(handler, behind=0, certificate=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # refused handshakes are what is tested
    server.seen, server.behind, server.status, server.challenge = [], behind, 200, None
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate + ".pem", certificate + ".key")
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def openssl(*words):
    subprocess.run(["openssl", *words], check=True, capture_output=True, timeout=60)


class Authority:
    """Signs certificates in a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.file = os.path.join(folder, "authority.pem")
        self.key = os.path.join(folder, "authority.key")
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=test authority", "-keyout", self.key, "-out", self.file)

    def certificate(self, name, names, days="1"):
        path = os.path.join(self.folder, name)
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=" + name,
                "-addext", "subjectAltName=" + names, "-keyout", path + ".key", "-out", path + ".csr")
        openssl("x509", "-req", "-in", path + ".csr", "-CA", self.file, "-CAkey", self.key, "-CAcreateserial", "-days", days,
                "-copy_extensions", "copy", "-out", path + ".pem")
        return path


class Network:
    def __init__(self, programs, folder):
        self.signet = os.path.join(os.path.abspath(programs), "signet")
        self.authority = Authority(folder)

    def call(self, url, *options, **environment):
        clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        return subprocess.run([self.signet, "call", url, "t", *options], env=dict(clean, **environment),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=30, text=True)

    def expect_answer(self, done):
        assert done.returncode == 0 and done.stdout == "over the wire\n", done

    def expect_refusal(self, done, *words):
        assert done.returncode == 3 and done.stdout == "", done
        for word in words:
            assert word in done.stderr, (word, done.stderr)

    def a_challenge_says_who_gives_tokens(self):
        elsewhere = serve(Mcp)
        server = serve(Mcp)
        url = "http://127.0.0.1:%d" % server.server_port
        metadata = "/.well-known/oauth-protected-resource/mcp"
        # Named by the challenge, and where it is by custom.
        for server.challenge in ('Bearer resource_metadata="%s%s"' % (url, metadata), "Bearer"):
            server.seen.clear()
            done = self.call(url + "/mcp", SIGNET_TOKEN="not-accepted")
            self.expect_refusal(done, "does not accept this token (401)", "https://sign.in.example", "SIGNET_TOKEN", "--token-file")
            assert "not-accepted" not in done.stderr, done
            assert server.seen[0][1]["Authorization"] == "Bearer not-accepted"
            assert server.seen[-1][0] == metadata and "Authorization" not in server.seen[-1][1], server.seen
        # Another origin is named, and not asked.
        server.challenge = 'Bearer resource_metadata="http://127.0.0.1:%d/x"' % elsewhere.server_port
        done = self.call(url + "/mcp")
        self.expect_refusal(done, "wants to know who calls (401)", "stands at http://127.0.0.1:%d/x" % elsewhere.server_port)
        assert not elsewhere.seen

    def trusted(self):
        server = serve(Mcp, certificate=self.authority.certificate("trusted", "DNS:localhost,IP:127.0.0.1"))
        for host in ("localhost", "127.0.0.1"):
            self.expect_answer(self.call("https://%s:%d/mcp" % (host, server.server_port), "--ca", self.authority.file))
        assert len(server.seen) == 4

    def not_trusted(self):
        server = serve(Mcp, certificate=self.authority.certificate("unknown", "DNS:localhost"))
        self.expect_refusal(self.call("https://localhost:%d/mcp" % server.server_port), "not safe", "--ca")
        assert not server.seen

    def wrong_host(self):
        server = serve(Mcp, certificate=self.authority.certificate("other", "DNS:other.example,DNS:*.localhost"))
        for host in ("localhost", "127.0.0.1"):
            self.expect_refusal(self.call("https://%s:%d/mcp" % (host, server.server_port), "--ca", self.authority.file),
                                "not safe", "mismatch", "another name")
        assert not server.seen

    def expired(self):
        server = serve(Mcp, certificate=self.authority.certificate("expired", "DNS:localhost", days="-1"))
        self.expect_refusal(self.call("https://localhost:%d/mcp" % server.server_port, "--ca", self.authority.file),
                            "not safe", "expired")
        assert not server.seen

    def no_tls(self):
        server = serve(Mcp)
        self.expect_refusal(self.call("https://localhost:%d/mcp" % server.server_port, "--ca", self.authority.file), "not safe")
        other = serve(Mcp, certificate=self.authority.certificate("plain", "DNS:localhost"))
        done = self.call("http://localhost:%d/mcp" % other.server_port)
        assert done.returncode == 3 and done.stdout == "", done

    def bad_file(self):
        self.expect_refusal(self.call("https://localhost:1/mcp", "--ca", os.path.join(self.authority.folder, "none")), "cannot be read")

    def plain_through_proxy(self):
        server = serve(Mcp)
        proxy = serve(Proxy, server.server_port)
        self.expect_answer(self.call("http://server.example/mcp?x=1", http_proxy="http://127.0.0.1:%d" % proxy.server_port))
        assert proxy.seen[0][0] == "POST http://server.example/mcp?x=1 HTTP/1.1", proxy.seen
        assert server.seen[0][0] == "/mcp?x=1" and server.seen[0][1]["Host"] == "server.example", server.seen
        # Not for what is excluded, nor for this machine.
        self.expect_answer(self.call("http://127.0.0.1:%d/mcp" % server.server_port,
                                     http_proxy="http://127.0.0.1:%d" % proxy.server_port))
        assert len(proxy.seen) == 2

    def tls_through_proxy(self):
        server = serve(Mcp, certificate=self.authority.certificate("far", "DNS:server.example"))
        proxy = serve(Proxy, server.server_port)
        through = {"https_proxy": "http://127.0.0.1:%d" % proxy.server_port}
        token = ("--header", "Authorization: Bearer for-the-server")
        self.expect_answer(self.call("https://server.example/mcp", "--ca", self.authority.file, *token, **through))
        for line, fields in proxy.seen:
            assert line == "CONNECT server.example:443 HTTP/1.1", line
            assert "Authorization" not in fields, "the proxy saw the server's token"
        assert server.seen[0][1]["Authorization"] == "Bearer for-the-server"
        # The proxy is no authority.
        self.expect_refusal(self.call("https://other.example/mcp", "--ca", self.authority.file, **through), "not safe")

    def refusing_proxy(self):
        proxy = serve(Proxy)
        proxy.status = 407
        self.expect_refusal(self.call("https://server.example/mcp", https_proxy="http://127.0.0.1:%d" % proxy.server_port), "proxy", "407")


def main():
    signal.alarm(110)
    if shutil.which("openssl") is None:
        print("SKIPPED: the openssl tool is not installed (apt-get install openssl)")
        return 77
    scenes = ["trusted", "not_trusted", "wrong_host", "expired", "no_tls", "bad_file", "plain_through_proxy", "tls_through_proxy",
              "refusing_proxy", "a_challenge_says_who_gives_tokens"]
    with tempfile.TemporaryDirectory() as folder:
        return play(Network(sys.argv[1], folder), scenes)


if __name__ == "__main__":
    sys.exit(main())
