#!/usr/bin/env python3
"""A thousand calls at once on one client, over both transports. Usage: parallel.py DIR_OF_PROGRAMS"""
import os
import subprocess
import sys

from wire import HttpServer


def main():
    programs = os.path.abspath(sys.argv[1])
    client, fixture = os.path.join(programs, "parallel_calls"), os.path.join(programs, "fixture_server")
    codes = []
    with HttpServer([fixture]) as server:
        for words in (["http://127.0.0.1:%d/mcp" % server.port], [fixture]):
            codes.append(subprocess.run([client, *words], stdin=subprocess.DEVNULL, timeout=100).returncode)
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
