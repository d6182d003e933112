"""Checks that the repository holds nothing unfinished, nothing of one machine, and no file too long to read.

Usage: hygiene.py SOURCE_DIR. Exits 1 if it does.
"""
import pathlib
import re
import subprocess
import sys

# Written in pieces, so that this file may be checked too.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|\b[Nn]ot " r"implemented|\b[Uu]n" r"implemented|\bst" r"ubs?\b")
MACHINE = re.compile(r"(?<![\w./$}-])/(work|farm|home|root|tmp)/\w")
# Hosts of package registries and mirrors, by the names such hosts have. Lock files name packages, not hosts.
REGISTRY = re.compile(r"https?://(registry|registries|deb|ftp|mirrors?|proxy|pypi|files|repo|snapshot|static)\.\w|\"resolved\":")
PROSE = {".md"}
LINES_MAX = 900


def files_of(root):
    try:
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
            cwd=root, check=True, capture_output=True, text=True,
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        listed = [p.relative_to(root).as_posix() for p in root.rglob("*") if p.is_file()]
        listed = [p for p in listed if not re.match(r"(build|\.git|node_modules)/", p)]
    return [root / p for p in sorted(listed) if (root / p).is_file()]


def problems(path, text):
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if path.suffix not in PROSE and UNFINISHED.search(line):
            yield number, "unfinished by its own words"
        if MACHINE.search(line):
            yield number, "a path of one machine"
        if REGISTRY.search(line):
            yield number, "a registry's host"
    if path.suffix in (".h", ".cc") and len(lines) > LINES_MAX:
        yield len(lines), f"more than {LINES_MAX} lines"


def self_test():
    wrong = []
    for line in ("// TO" + "DO later", "int st" + "ub;", "cd /wo" + "rk/main", '"/tm' + 'p/x"', "https://regis" + "try.example/x"):
        if not list(problems(pathlib.Path("a.cc"), line)):
            wrong.append(f"self-test: not found: {line}")
    for line in ("// stubborn", "https://www.rfc-editor.org/rfc/rfc8785", "/workers/1", "a/work/b", "$TMPDIR/tmp/x"):
        if list(problems(pathlib.Path("a.cc"), line)):
            wrong.append(f"self-test: wrongly found: {line}")
    return wrong


def main():
    root = pathlib.Path(sys.argv[1])
    bad = self_test()
    count = 0
    for path in files_of(root):
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue  # binary: corpora and vectors
        count += 1
        bad += [f"{path.relative_to(root)}:{number}: {reason}" for number, reason in problems(path, text)]
    for line in bad:
        print(line)
    print(f"hygiene: {count} files, {len(bad)} problems")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
