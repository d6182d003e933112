#!/usr/bin/env python3
"""A question asked by one process is finished by another that holds the same key ring, and by nobody else.
Usage: two_processes.py DIR_OF_PROGRAMS"""
import subprocess
import sys
import tempfile

from wire import HttpServer, Report, eventually

REFUSAL = {"code": -32602, "message": "Invalid or expired requestState", "data": {"reason": "invalid_request_state"}}
ANSWER = {"user_name": {"action": "accept", "content": {"name": "Ada Secret-Answer"}}}
DONE = "Hello, Ada Secret-Answer!"


def ask(server, tool="ask_name", arguments=None):
    """Round one; the sealed state."""
    _, answer = server.call("tools/call", {"name": tool, "arguments": arguments or {"order": "private-argument"}})
    assert answer["result"]["resultType"] == "input_required", answer
    return answer["result"]["requestState"]


def finish(server, state, tool="ask_name", arguments=None):
    """Round two; the message that comes back."""
    _, answer = server.call("tools/call", {"name": tool, "arguments": arguments or {"order": "private-argument"},
                                           "requestState": state, "inputResponses": ANSWER})
    return answer


def text(answer):
    return answer.get("result", {}).get("content", [{}])[0].get("text")


def flipped(state, place):
    other = "A" if state[place] != "A" else "B"
    return state[:place] + other + state[place + 1:]


def make_ring(programs, path, key_id):
    subprocess.run([programs + "/signet", "keys", "generate", path, "--id", key_id], check=True, stdout=subprocess.DEVNULL)
    return ["--ring", path]


def main():
    programs = sys.argv[1]
    fixture = [programs + "/fixture_server"]
    report = Report()
    with tempfile.TemporaryDirectory() as folder:
        ring = make_ring(programs, folder + "/ring.json", "first")
        other_ring = make_ring(programs, folder + "/other.json", "second")
        namesake = make_ring(programs, folder + "/namesake.json", "first")
        with HttpServer(fixture + ring) as a, HttpServer(fixture + ring) as b, HttpServer(fixture + other_ring) as c, \
                HttpServer(fixture + namesake) as d:
            state = ask(a)
            report.check("the other process finishes it", text(finish(b, state)) == DONE, finish(b, state))
            report.check("the first process does too", text(finish(a, state)) == DONE)
            report.check("and the other way round", text(finish(a, ask(b))) == DONE)

            refusals = [
                ("another ring", c, "unknown_key", finish(c, state)),
                ("another ring with a key of the same name", d, "not_authentic", finish(d, state)),
                ("another argument", b, "other_arguments", finish(b, state, arguments={"order": "2"})),
                ("another tool", b, "other_target", finish(b, state, tool="structured_ask")),
                ("a flipped bit at the end", b, "not_authentic", finish(b, flipped(state, -5))),
                ("a flipped bit in the middle", b, "not_authentic", finish(b, flipped(state, len(state) // 2))),
                ("a state cut short", b, None, finish(b, state[:-4])),
                ("a state that is none", b, "malformed", finish(b, "not-a-state")),
                ("an empty state", b, "malformed", finish(b, "")),
            ]
            for name, server, reason, answer in refusals:
                report.check(name + " is refused", answer.get("error") == REFUSAL, answer)
                report.check(name + " is explained to the operator", reason is None or server.logs(reason),
                             server.log_text()[-600:])
            for server in (a, b, c, d):
                for secret in (state[20:60], "Secret-Answer", "private-argument"):
                    report.check("the log keeps secrets", secret not in server.log_text(), secret)

        with HttpServer(fixture + ring, {"FIXTURE_TTL": "1"}) as short:
            state = ask(short)
            report.check("an expired state is refused", eventually(lambda: finish(short, state).get("error") == REFUSAL))
            report.check("and so it says in the log", short.logs("expired"), short.log_text()[-600:])
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
