"""Two-round flows against examples/tickets with wrk: no error of any kind at 64 connections, and the server ends clean.

Usage: load.py BIN_DIR [SECONDS]. Exits 77 (skipped) where wrk is not installed. Under a sanitizer, anything it reports fails.
"""
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_listens(port, server):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


def main():
    binaries = pathlib.Path(sys.argv[1])
    seconds = sys.argv[2] if len(sys.argv) > 2 else "2"
    if shutil.which("wrk") is None:
        print("SKIPPED: wrk is not installed")
        return 77
    port = free_port()
    with tempfile.TemporaryFile("w+") as log:
        server = subprocess.Popen([binaries / "tickets", "--http", "--port", str(port)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=log)
        try:
            listens = wait_until_it_listens(port, server)
            script = pathlib.Path(__file__).with_name("tickets.lua")
            output = subprocess.run(
                ["wrk", "-t2", "-c64", f"-d{seconds}s", "--timeout", "10s", "--latency", "-s", script,
                 f"http://127.0.0.1:{port}/mcp"],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120).stdout if listens else ""
        finally:
            server.send_signal(signal.SIGTERM)
            try:
                code = server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                code = "none: it did not stop"
        log.seek(0)
        said = log.read()
    print(output)
    counts = re.search(r"load: (\d+) asked, (\d+) finished, (\d+) wrong, (\d+) connect, (\d+) read, (\d+) write, "
                       r"(\d+) timeout, (\d+) status", output)
    problems = []
    if counts is None:
        problems.append("wrk did not run to its end")
    else:
        asked, finished, *errors = map(int, counts.groups())
        if asked == 0 or finished == 0:
            problems.append("no flow went through both rounds")
        if any(errors):
            problems.append("errors under load")
    if code != 0:
        problems.append(f"the server ended with {code}")
    if re.search(r"Sanitizer|runtime error", said):
        problems.append("a sanitizer reported")
    for problem in problems:
        print(problem)
    if problems:
        print(said[-6000:])
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
