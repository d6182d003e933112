#!/usr/bin/env python3
"""What `signet --help` says agrees with the manual page and the completions, and all of them are well formed.
Usage: help.py DIR_OF_PROGRAMS DIR_OF_DOCUMENTS"""
import os
import re
import shutil
import subprocess
import sys

COMMANDS = ("call", "trace", "list", "read", "prompt", "listen")
KEY_COMMANDS = [("keys",), ("token",)] + [("keys", one) for one in ("generate", "list", "rotate", "retire", "check")] + \
    [("token", one) for one in ("seal", "open", "inspect")]


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, text=True)


def main():
    signet, documents = os.path.join(os.path.abspath(sys.argv[1]), "signet"), sys.argv[2]
    problems = []

    def check(holds, sentence):
        if not holds:
            problems.append(sentence)

    def text_of(*path):
        with open(os.path.join(documents, *path), encoding="utf-8") as file:
            return file.read()

    manual = text_of("signet.1").replace("\\-", "-")
    completions = {name: text_of("completion", name) for name in ("signet.bash", "_signet", "signet.fish")}
    for command in COMMANDS:
        help_text = run(signet, command, "--help")
        check(help_text.returncode == 0 and not help_text.stderr, "%s --help: exit code %d" % (command, help_text.returncode))
        longest = max(len(line) for line in help_text.stdout.splitlines())
        check(longest <= 100, "%s --help has a line of %d characters" % (command, longest))
        for option in set(re.findall(r"--([a-z][a-z-]+)", help_text.stdout)) - {"fast", "help"}:
            check("--" + option in manual, "the manual page has no --" + option)
            for name, text in completions.items():
                spelled = "-l " + option if name.endswith("fish") else "--" + option
                check(re.search(re.escape(spelled) + r"\b", text), "%s has no %s" % (name, option))
    for words in KEY_COMMANDS:
        help_text = run(signet, *words, "--help")
        check(help_text.returncode == 0 and not help_text.stderr, "%s --help: %r" % (words, help_text))
        check("Exit codes: 0" in help_text.stdout, "%s --help names no exit codes" % (words,))
        ways = re.findall(r"^ +--ring\b|RING ", help_text.stdout, re.MULTILINE)
        check(len(ways) <= 1, "%s --help shows two ways to the ring" % (words,))
        for word in ("TEXT:", "REQUIRED", "INT", "(Env:"):
            check(word not in help_text.stdout, "%s --help: %s" % (words, word))
        check(max(len(line) for line in help_text.stdout.splitlines()) <= 100, "%s --help is too wide" % (words,))
        wrong = run(signet, *words, "--nonsense")
        check(wrong.returncode == 2 and ("--nonsense" in wrong.stderr or len(words) == 1) and "usage: signet " + " ".join(words) in wrong.stderr,
              "%s --nonsense: %r" % (words, wrong))
    given = run(signet, "token", "inspect", "sg1.key." + 40 * "A")
    check(given.returncode == 2 and "standard input" in given.stderr, "a token on the command line: %r" % given)
    everything = run(signet, "--help")
    check(everything.returncode == 0, "--help: exit code %d" % everything.returncode)
    for command in re.findall(r"^  ([a-z]+) {2,}", everything.stdout, re.MULTILINE):
        check("signet " + command in manual or "| signet " + command in manual, "the manual page has no command " + command)
        for name, text in completions.items():
            check(re.search(r"\b%s\b" % command, text), "%s has no command %s" % (name, command))
    for words, said in (((), "Usage"), (("nonsense",), "no command nonsense"), (("call",), "which server"), (("call", "x"), "no address"),
                        (("call", "http://localhost/mcp"), "which tool"), (("list", "--rounds", "1", "http://localhost/"), "usage")):
        done = run(signet, *words)
        check(done.returncode == 2 and not done.stdout and said in done.stderr, "%s: %r" % (words, done))

    page = os.path.join(documents, "signet.1")
    if shutil.which("man"):
        done = run("man", "--warnings", "-l", page)
        check(done.returncode == 0 and not done.stderr, "the manual page: " + done.stderr)
    for shell, name in (("bash", "signet.bash"), ("zsh", "_signet"), ("fish", "signet.fish")):
        if shutil.which(shell):
            done = run(shell, "-n", os.path.join(documents, "completion", name))
            check(done.returncode == 0, name + ": " + done.stderr)
        else:
            print("not checked: %s is not installed" % shell)
    for problem in problems:
        print("FAIL", problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
