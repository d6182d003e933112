#!/usr/bin/env python3
"""`signet call` at a terminal: every kind of field, a wrong answer, a decline, Ctrl-C in mid-question, and a call that a
second process resumes. Usage: terminal.py DIR_OF_PROGRAMS [tmux]

With a bare pseudo-terminal, what the program writes is judged; with tmux, what a person sees on the screen."""
import fcntl
import json
import os
import pty
import select
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from wire import play

FORM = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "title": "City", "minLength": 2},
        "mail": {"type": "string", "format": "email"},
        "password": {"type": "string"},
        "nights": {"type": "integer", "minimum": 1, "maximum": 14, "default": 2},
        "budget": {"type": "number"},
        "pets": {"type": "boolean", "default": False},
        "room": {"type": "string", "enum": ["s", "d"], "enumNames": ["Single", "Double"]},
        "extras": {"type": "array", "items": {"anyOf": [{"const": "b", "title": "Breakfast"}, {"const": "p", "title": "Parking"}]}},
        "note": {"type": "string"},
    },
    "required": ["city", "mail", "password", "nights", "budget", "pets", "room"],
}

LINKS = {
    "user_name": "https://good.example@evil.example/login",
    "lookalike": "https://\u0430\u0440\u0440\u04cf\u0435.com/",
    "script": "javascript:alert(1)",
}
# What a server would say to look like us: in a line of its own, and pushed to the beginning of the terminal's next row.
OURS = "signet: Open it?"
FAKE = "Hello\n" + OURS + " [y/N]\r\n" + "  " + OURS + "\n" + " " * 200 + OURS + "x" * 300 + OURS + "\x1b[1A\x1b[2K" + OURS


def serve():
    """A server on the standard streams that keeps nothing: what it knows is in the state. Logs what it gets."""
    log = open(os.environ["TERMINAL_LOG"], "a", buffering=1, encoding="utf-8")

    def ask(key, params, state):
        return {"resultType": "input_required", "requestState": state,
                "inputRequests": {key: {"method": "elicitation/create", "params": params}}}

    def done(text):
        return {"resultType": "complete", "content": [{"type": "text", "text": text}]}

    for line in sys.stdin:
        message = json.loads(line)
        log.write(line)
        if "id" not in message:
            continue
        params = message.get("params", {})
        answers = params.get("inputResponses")
        if message["method"] == "server/discover":
            result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
                      "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "inn\x1b]0;owned\x07\x1b[31m", "version": "1"}}}
        elif message["method"] == "tools/list":
            result = {"resultType": "complete", "tools": [{"name": "plain", "inputSchema": {
                "type": "object", "properties": {"ticket": {"type": "integer"}}}}]}
        elif message["method"] in ("prompts/get", "resources/read"):
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Method not found"}}),
                  flush=True)
            continue
        elif params["name"] == "link":
            result = done("visited " + answers["u"]["action"]) if answers else ask(
                "u", {"mode": "url", "message": "Log in", "url": "https://login.example/x?y=1"}, "s")
        elif params["name"] == "plain":
            result = done("plainly")
        elif params["name"] == "environment":
            result = done("%s %s" % (os.environ.get("SIGNET_TOKEN"), os.environ.get("OTHER")))
        elif params["name"] in LINKS:
            result = done("answered " + answers["u"]["action"]) if answers else ask(
                "u", {"mode": "url", "message": "Log in", "url": LINKS[params["name"]]}, "s")
        elif params["name"] == "fake":
            result = done("filled in") if answers else ask("f", {"message": FAKE, "requestedSchema": {
                "type": "object", "properties": {"a": {"type": "string", "title": FAKE, "description": FAKE, "enum": [FAKE]}}}}, "s")
        elif answers and os.environ.get("FORGETFUL"):
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"],
                              "error": {"code": -32602, "message": "Invalid or expired requestState"}}), flush=True)
            continue
        elif answers:
            answer = answers["booking"]
            result = done(json.dumps(answer, sort_keys=True) + params["requestState"])
        else:
            result = ask("booking", {"message": "Where to?", "requestedSchema": FORM}, "|state")
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)


class Person:
    """A program at a pseudo-terminal, and what it has shown."""

    def __init__(self, command, environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.shown = ""
        self.before = ""

    def expect(self, text, seconds=20):
        end = time.monotonic() + seconds
        while text not in self.shown:
            if not self.read(end):
                raise AssertionError("no %r in:\n%s" % (text, self.shown))
        self.before = self.before + self.shown[:self.shown.index(text)]
        self.shown = self.shown[self.shown.index(text) + len(text):]

    def read(self, end):
        ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
        try:
            got = os.read(self.terminal, 4096) if ready else b""
        except OSError:
            got = b""
        self.shown += got.decode("utf-8", "replace")
        return bool(got)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def answer(self, prompt, text):
        self.expect(prompt)
        self.type(text + "\n")

    def leave(self):
        end = time.monotonic() + 20
        while self.read(end):
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


class Screen:
    """The same in a window of tmux, which shows what its screen holds."""
    count = 0

    def __init__(self, command, environment, folder):
        # Large enough that nothing scrolls away. A shell stays behind, which Ctrl-C does not end.
        config = os.path.join(folder, "tmux.conf")
        with open(config, "w", encoding="utf-8") as file:
            file.write("set -g status off\nset -g set-titles off\n")
        self.environment = dict(environment, TMUX_TMPDIR=folder)
        self.environment.pop("TMUX", None)
        self.seen = 0
        # A tmux server of its own: one that is ending may still hold the name.
        Screen.count += 1
        self.name = "screen%d" % Screen.count
        self.tmux("-f", config, "new-session", "-d", "-x", "160", "-y", "300",
                  shlex.join(["sh", "-c", 'trap : INT; "$@"; echo "[left with $?]"; exec sleep 60', "sh", *command]))

    def tmux(self, *words):
        done = subprocess.run(["tmux", "-L", self.name, *words], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=20, text=True, check=True)
        return done.stdout

    @property
    def shown(self):
        return self.tmux("capture-pane", "-p").rstrip("\n") + "\n"

    def wait(self, condition, what):
        end = time.monotonic() + 20
        while not condition():
            if time.monotonic() > end:
                raise AssertionError("no %s in:\n%s" % (what, self.shown))
            time.sleep(0.02)

    def expect(self, text):
        self.wait(lambda: text in self.shown[self.seen:], repr(text))
        self.seen = self.shown.index(text, self.seen) + len(text)

    def type(self, text):
        keys = {"\n": "Enter", "\x03": "C-c", "\x04": "C-d"}
        for part in (text[:-1], text[-1:]) if text[-1:] in keys else (text,):
            if part in keys:
                self.tmux("send-keys", keys[part])
            elif part:
                self.tmux("send-keys", "-l", "--", part)

    def answer(self, prompt, text):
        self.expect(prompt)
        self.type(text + "\n")

    def leave(self):
        self.expect("[left with ")
        self.wait(lambda: "]" in self.shown[self.seen:], "exit code")
        code = int(self.shown[self.seen:].split("]")[0])
        assert self.tmux("display-message", "-p", "#{pane_title}").strip() != "owned", "the server set the title"
        self.tmux("kill-server")
        return code


class Terminal:
    def __init__(self, programs, folder, in_tmux=False):
        self.folder = folder
        self.in_tmux = in_tmux
        self.signet = os.path.join(os.path.abspath(programs), "signet")
        self.log = os.path.join(folder, "log")
        self.saved = os.path.join(folder, "saved.json")
        self.environment = dict(os.environ, TERM="xterm", TERMINAL_LOG=self.log)
        self.server = ["--", sys.executable, os.path.abspath(__file__), "--server"]

    def person(self, *words):
        open(self.log, "w").close()
        command = [self.signet, *words]
        return Screen(command, self.environment, self.folder) if self.in_tmux else Person(command, self.environment)

    def sent(self, method):
        with open(self.log, encoding="utf-8") as file:
            return [json.loads(line) for line in file if json.loads(line).get("method") == method]

    def fill_in(self, person):
        person.expect("asks:")
        person.answer("City", "x")
        person.expect("at least 2 characters")
        person.answer("City", "Rome")
        person.answer("mail", "nonsense")
        person.expect("e-mail")
        person.answer("mail", "ada@example.com")
        person.answer("password", "hunter2")
        person.expect("\n")
        assert "hunter2" not in person.shown, "the secret was echoed"
        person.answer("nights", "99")
        person.expect("at most 14")
        person.answer("nights", "")
        person.answer("budget", "99.5")
        person.answer("pets", "perhaps")
        person.expect("yes or no, please")
        person.answer("pets", "y")
        person.expect("2) Double")
        person.answer("room", "2")
        person.expect("1) Breakfast")
        person.answer("extras", "2, 1")
        person.answer("note", "")

    CONTENT = {"city": "Rome", "mail": "ada@example.com", "password": "hunter2", "nights": 2, "budget": 99.5, "pets": True,
               "room": "d", "extras": ["p", "b"]}

    def every_kind_of_field(self):
        person = self.person("call", *self.server, "book")
        self.fill_in(person)
        person.expect("|state")
        assert person.leave() == 0
        assert self.sent("tools/call")[1]["params"]["inputResponses"]["booking"] == {"action": "accept", "content": self.CONTENT}

    def a_decline(self):
        person = self.person("call", *self.server, "book")
        person.answer("City", "/decline")
        person.expect('"decline"')
        assert person.leave() == 0

    def an_interrupt(self):
        person = self.person("call", *self.server, "book")
        person.answer("City", "Rome")
        person.expect("mail")
        person.type("\x03")
        assert person.leave() == 130
        assert len(self.sent("tools/call")) == 1, "something was sent"

    def an_end_of_input(self):
        person = self.person("call", *self.server, "book")
        person.expect("City")
        person.type("\x04")
        person.expect("ended without an answer")
        assert person.leave() == 4

    def a_url(self):
        person = self.person("call", *self.server, "link")
        person.expect("login.example")
        person.expect("https://login.example/x?y=1")
        person.answer("Open it?", "v")
        person.expect("visited accept")
        assert person.leave() == 0

    def an_address_that_cannot_be_opened(self):
        nothing = os.path.join(self.folder, "no_programs")
        os.makedirs(nothing, exist_ok=True)
        with open(os.path.join(nothing, "xdg-open"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\nexit 3\n")
        os.chmod(file.name, 0o755)
        before, self.environment["PATH"] = self.environment["PATH"], nothing + ":" + self.environment["PATH"]
        for typed, said in (("", "visited accept"), ("cancel", "visited cancel")):
            person = self.person("call", *self.server, "link")
            person.answer("Open it?", "o")
            person.expect("visit it yourself")
            person.expect("Press Enter")
            assert len(self.sent("tools/call")) == 1, "the server heard of the visit before it was over"
            person.type(typed + "\n")
            person.expect(said)
            assert person.leave() == 0
        self.environment["PATH"] = before

    def addresses_that_are_not_opened(self):
        for tool, said in (("user_name", "user name; the host would be evil.example"), ("script", "no http or https address")):
            person = self.person("call", *self.server, tool)
            person.expect(said)
            person.expect("signet: [v]isited")
            person.type("o\n")
            person.answer("signet: [v]isited", "d")
            person.expect("answered decline")
            assert person.leave() == 0

    def an_address_that_looks_like_another(self):
        person = self.person("call", *self.server, "lookalike")
        person.expect("https://xn--80ak6aa92e.com/")
        person.expect("letters outside ASCII")
        person.answer("Open it?", "d")
        person.expect("answered decline")
        assert person.leave() == 0

    def a_server_that_imitates_us(self):
        person = self.person("call", *self.server, "fake")
        person.expect("asks:")
        person.expect("  1)")
        person.expect("[1 to 1")
        for row in person.before.replace("\r\n", "\n").split("\n"):
            assert OURS not in row[:len(OURS) + 3], "a row of the server looks like ours: %r" % row
            assert len(row) <= 80, "the terminal breaks a row of the server: %r" % row
        person.type("/decline\n")
        person.expect("filled in")
        assert person.leave() == 0

    def yes_shows_what_it_accepts_and_opens_nothing(self):
        opened = os.path.join(self.folder, "opened")
        with open(os.path.join(self.folder, "xdg-open"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho \"$1 $SIGNET_TOKEN\" > " + shlex.quote(opened) + "\n")
        os.chmod(file.name, 0o755)
        self.environment["PATH"] = self.folder + ":" + os.environ["PATH"]
        self.environment["SIGNET_TOKEN"] = "secret"
        for tool, code, said in (("link", 0, "https://login.example/x?y=1"), ("lookalike", 0, "https://xn--80ak6aa92e.com/"),
                                 ("user_name", 4, "user name"), ("script", 4, "no http or https")):
            done = subprocess.run([self.signet, "call", "--yes", *self.server, tool], env=self.environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=20, text=True)
            assert done.returncode == code and said in done.stderr, done
            assert code or "not opened" in done.stderr, done
        assert not os.path.exists(opened), "--yes opened an address"
        person = self.person("call", *self.server, "link")
        person.answer("Open it?", "o")
        person.answer("Press Enter", "")
        person.expect("visited accept")
        assert person.leave() == 0
        with open(opened, encoding="utf-8") as file:
            assert file.read() == "https://login.example/x?y=1 \n", "the opener got more than the address"

    def a_resumed_call(self):
        person = self.person("call", "--save", self.saved, *self.server, "book")
        person.expect("Saved")
        assert person.leave() == 5
        assert os.stat(self.saved).st_mode & 0o777 == 0o600
        person = self.person("call", "--resume", self.saved)
        person.answer("City", "Rome")
        person.expect("mail")
        person.type("\x03")
        assert person.leave() == 130
        assert not self.sent("tools/call")
        person = self.person("call", "--resume", self.saved)
        self.fill_in(person)
        person.expect("|state")
        assert person.leave() == 0
        assert not os.path.exists(self.saved)

    def nobody_there(self):
        open(self.log, "w").close()
        done = subprocess.run([self.signet, "call", *self.server, "book"], env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=20, text=True)
        assert done.returncode == 4 and "--answers" in done.stderr, done
        assert "\x1b" not in done.stderr, "control characters of the server reached the terminal"
        assert len(self.sent("tools/call")) == 1

    def run(self, *words, given=""):
        return subprocess.run([self.signet, *words], env=self.environment, input=given, capture_output=True,
                              timeout=20, text=True)

    def files_that_are_there_stay(self):
        precious = os.path.join(self.folder, "precious")
        for words in (("--save", precious), ("--save", precious, "--answers", precious)):
            with open(precious, "w", encoding="utf-8") as file:
                file.write("{}")
            done = self.run("call", *words, *self.server, "book")
            assert done.returncode == 2 and "--force" in done.stderr, done
        # A call that asks nothing keeps nothing, and takes nothing away.
        done = self.run("call", "--force", "--save", precious, *self.server, "plain")
        assert done.returncode == 0, done
        with open(precious, encoding="utf-8") as file:
            assert file.read() == "{}"
        done = self.run("trace", "--last-state", precious, *self.server, "plain")
        assert done.returncode == 2 and "--force" in done.stderr, done
        assert self.run("call", "--force", "--save", precious, *self.server, "book").returncode == 5
        # The call that is resumed may be kept in its own file again.
        assert self.run("call", "--resume", precious, "--save", precious).returncode == 5

    def a_trace_goes_where_results_go(self):
        done = self.run("trace", *self.server, "plain")
        assert done.returncode == 0 and not done.stderr, done
        assert done.stdout.startswith("--> server/discover") and done.stdout.endswith("plainly\n"), done
        done = self.run("trace", "--json", *self.server, "plain")
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert [line.get("direction") for line in lines] == ["sent", "received", "sent", "received", None], done
        assert lines[-1]["content"][0]["text"] == "plainly" and not done.stderr, done

    def the_server_gets_the_variables_it_is_given(self):
        self.environment["SIGNET_TOKEN"] = "secret"
        self.environment["OF_THE_TEST"] = "there"
        for words, expected in (((), "None None"), (("--env", "OTHER=x=y"), "None x=y"),
                                (("--env", "SIGNET_TOKEN", "--env", "OTHER="), "secret ")):
            done = self.run("call", *words, *self.server, "environment")
            assert done.stdout.rstrip("\n") == expected, done
        done = self.run("call", "--env", "NOT_THERE", *self.server, "environment")
        assert done.returncode == 2 and "NOT_THERE" in done.stderr, done

    def a_result_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([self.signet, "call", *self.server, "plain"], env=self.environment,
                                  stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, timeout=20, text=True)
        assert done.returncode == 1 and "cannot be written" in done.stderr, done
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([self.signet, "keys", "generate", "--ring", "-"], stdin=subprocess.DEVNULL, stdout=full,
                                  stderr=subprocess.PIPE, timeout=20, text=True)
        assert done.returncode == 1 and "cannot be written" in done.stderr, done

    def an_interrupt_while_the_server_says_nothing(self):
        for command in ("call", "list"):
            running = subprocess.Popen([self.signet, command, "--", sys.executable, "-c",
                                        "import sys; print('here', file=sys.stderr, flush=True); sys.stdin.read()", "--",
                                        *(["t"] if command == "call" else [])],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            assert running.stderr.readline() == "here\n"
            running.send_signal(signal.SIGINT)
            assert running.wait(timeout=60) == 130, command

    def what_nobody_took_is_named(self):
        done = self.run("call", *self.server, "plain", "ticket=42", "tcket=3", "--answer", "bogus=1")
        assert done.returncode == 0 and done.stdout == "plainly\n", done
        assert "no argument tcket; did you mean ticket?" in done.stderr, done
        assert "nothing asked for bogus" in done.stderr, done
        assert not self.run("call", *self.server, "plain", "ticket=42").stderr
        done = self.run("call", *self.server, "book", "--answer", "nights=99", "--answer", "city=Rome")
        assert done.returncode == 4 and "nights: this must be at most 14" in done.stderr, done

    def the_server_may_be_named_where_a_call_is_resumed(self):
        for server in ([], self.server, [*self.server, "--"]):
            assert self.run("call", "--force", "--save", self.saved, *self.server, "book").returncode == 5
            done = self.run("call", "--answers", self.answers(), "--resume", self.saved, *server)
            assert done.returncode == 0 and "|state" in done.stdout, done
        done = self.run("call", "--resume", self.saved, *self.server, "--", "book")
        assert done.returncode == 2 and "knows the call already" in done.stderr, done

    def a_call_may_be_resumed_from_standard_input(self):
        assert self.run("call", "--force", "--save", self.saved, *self.server, "book").returncode == 5
        with open(self.saved, encoding="utf-8") as file:
            kept = file.read()
        done = self.run("call", "--answers", self.answers(), "--resume", "-", *self.server, given=kept)
        assert done.returncode == 0 and "|state" in done.stdout, done
        assert os.path.exists(self.saved)
        done = self.run("call", "--answers", self.answers(), "--resume", "-", given=kept)
        assert done.returncode == 2 and "name the server" in done.stderr, done
        done = self.run("call", "--resume", "-", *self.server, given=kept[:-40])
        assert done.returncode == 2 and "standard input holds no call" in done.stderr, done

    def a_refused_state_says_how_to_go_on(self):
        self.environment["FORGETFUL"] = "1"
        answers = ("--answers", self.answers())
        again = "signet call -- " + shlex.join(self.server[1:]) + " -- book "
        done = self.run("call", *answers, *self.server, "book", "note=it's")
        assert done.returncode == 1 and again + "'note=it'\\''s'\n" in done.stderr and "stays" not in done.stderr, done
        done = self.run("call", "--force", "--save", self.saved, *self.server, "book", "note=x")
        assert done.returncode == 5 and "same keys" in done.stderr, done
        done = self.run("call", *answers, "--resume", self.saved)
        assert done.returncode == 1 and again + "--json '{\"note\":\"x\"}'\n" in done.stderr, done
        assert self.saved + " stays" in done.stderr and os.path.exists(self.saved), done
        del self.environment["FORGETFUL"]

    def verbose_says_what_happens(self):
        done = self.run("call", "--verbose", "--answers", self.answers(), *self.server, "book")
        assert done.returncode == 0, done
        events = [line.split(" ", 2)[2] for line in done.stderr.splitlines()]
        assert [event.split(" ")[0] for event in events] == [
            "request", "connected", "request", "input_required", "request"], done
        assert "method=server/discover" in events[0] and "revision=2026-07-28" in events[1], done
        assert "round=1 questions=1" in events[3], done
        assert "hunter2" not in done.stderr and "|state" not in done.stderr, "an answer or a state in the log"
        assert not self.run("call", "--answers", self.answers(), *self.server, "book").stderr

    def what_a_server_does_not_offer(self):
        for command, things in (("read", "resources"), ("prompt", "prompts")):
            done = self.run(command, *self.server, "x:y")
            assert done.returncode == 1 and "The server offers no " + things in done.stderr, done

    def a_server_that_ends_at_once(self):
        done = self.run("call", "--", "false", "--", "x")
        assert done.returncode == 3 and "request_sent_again" not in done.stderr, done

    def a_wrong_word_is_named(self):
        demo = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "demo")
        for program in (demo, os.path.join(os.path.dirname(self.signet), "tickets")):
            if os.path.exists(program):
                done = subprocess.run([program, "--nonsense"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, text=True)
                assert done.returncode == 2 and not done.stdout and "--nonsense" in done.stderr, done

    def answers(self):
        path = os.path.join(self.folder, "answers.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"booking": self.CONTENT}, file)
        return path

    def answers_from_a_file(self):
        done = self.run("call", "--answers", self.answers(), *self.server, "book", "--json")
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["resultType"] == "complete"


# Those that need no screen.
BARE = ["a_server_that_imitates_us", "yes_shows_what_it_accepts_and_opens_nothing", "nobody_there", "answers_from_a_file",
        "files_that_are_there_stay", "a_trace_goes_where_results_go", "the_server_gets_the_variables_it_is_given",
        "a_result_that_cannot_be_written", "an_interrupt_while_the_server_says_nothing", "what_nobody_took_is_named",
        "the_server_may_be_named_where_a_call_is_resumed", "a_call_may_be_resumed_from_standard_input", "a_refused_state_says_how_to_go_on",
        "verbose_says_what_happens", "what_a_server_does_not_offer", "a_server_that_ends_at_once",
        "a_wrong_word_is_named"]


def main():
    signal.alarm(110)
    scenes = ["every_kind_of_field", "a_decline", "an_interrupt", "an_end_of_input", "a_url", "an_address_that_cannot_be_opened",
              "addresses_that_are_not_opened",
              "an_address_that_looks_like_another", "a_resumed_call", *BARE]
    with tempfile.TemporaryDirectory() as folder:
        in_tmux = sys.argv[2:] == ["tmux"]
        if in_tmux and shutil.which("tmux") is None:
            print("SKIPPED: tmux is not installed (apt-get install tmux)")
            return 77
        terminal = Terminal(sys.argv[1], folder, in_tmux)
        if in_tmux:
            scenes = [scene for scene in scenes if scene not in BARE]
        return play(terminal, scenes)


if __name__ == "__main__":
    if sys.argv[1:] == ["--server"]:
        serve()
    else:
        sys.exit(main())
