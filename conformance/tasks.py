#!/usr/bin/env python3
"""`signet call` follows tasks of everything_server to their end, over both transports. Usage: tasks.py DIR_OF_PROGRAMS"""
import os
import re
import signal
import subprocess
import sys
import threading
import time

from wire import HttpServer

CALLS = [
    ("greet name=Ada", 0, "Hello, Ada!"),
    ("slow_compute seconds=0.1 label=pi", 0, "Computed pi."),
    ("failing_job", 1, "The job failed, as it should."),
    ("protocol_error_job", 1, "-32603"),
    ("confirm_delete filename=a.txt --yes", 0, "Deleted a.txt."),
    ("multi_input --answer value=x", 0, "Got x and x."),
    ("test_tool_with_task --answer name=Ada", 0, "Hello, Ada!"),
    ("confirm_delete filename=a.txt", 4, "nobody is here to answer"),
    ("slow_compute seconds=60 --timeout 1", 1, "too long"),
]


def watch(signet, target):
    """Another client hears of a task's end; a subscription to tasks alone says nothing else. Returns what was wrong."""
    running = subprocess.Popen([signet, "trace", "--json", *target, "slow_compute", "seconds=60"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    found = None
    for line in running.stdout:
        found = re.search(r'"taskId" ?: ?"([^"]+)"', line)
        if found:
            break
    if not found:
        running.kill()
        return "no task was made"
    threading.Thread(target=running.stdout.read, daemon=True).start()
    listening = subprocess.Popen([signet, "listen", *target, "--task", found[1]], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = listening.stderr.readline()
    now = listening.stdout.readline()
    running.send_signal(signal.SIGINT)
    then = listening.stdout.readline()
    listening.send_signal(signal.SIGINT)
    code = listening.wait()
    running.wait()
    if "Listening" not in said or code != 130 or [now.split(), then.split()] != [
            ["notifications/tasks", found[1], status] for status in ("working", "cancelled")]:
        return "a watched task: %r %r %r %r" % (said, now, then, code)
    return None


def main():
    signal.alarm(110)
    programs = os.path.abspath(sys.argv[1])
    signet, program = os.path.join(programs, "signet"), os.path.join(programs, "everything_server")
    problems = []
    with HttpServer([program]) as server:
        for target in (["http://127.0.0.1:%d/mcp" % server.port], ["--", program, "--"]):
            for words, code, text in CALLS:
                done = subprocess.run([signet, "call", *target, *words.split()], stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=30, text=True)
                if done.returncode != code or text not in done.stdout + done.stderr:
                    problems.append("%s %s: %s" % (target[0], words, done))
            # Ctrl-C while the task runs: the call ends at once.
            running = subprocess.Popen([signet, "trace", *target, "slow_compute", "seconds=60"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            seen = ""
            while '"status": "working"' not in seen:
                seen += running.stdout.readline() or "(ended)" * (running.poll() is not None)
                if seen.endswith("(ended)"):
                    break
            started = time.monotonic()
            running.send_signal(signal.SIGINT)
            seen += running.stdout.read()
            if running.wait() != 130 or "tasks/cancel" not in seen or time.monotonic() - started > 20:
                problems.append("%s: an interrupt: %d %s" % (target[0], running.returncode, seen[-500:]))
        wrong = watch(signet, ["http://127.0.0.1:%d/mcp" % server.port])
        if wrong:
            problems.append(wrong)
    for problem in problems:
        print("FAIL", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
