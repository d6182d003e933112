"""Checks every code block of the documents: README.md, ARCHITECTURE.md, SECURITY.md and doc/*.md.

Usage: documents.py SOURCE_DIR BINARY_DIR COMPILER TESTS_FILE

What a fence says decides how its block is checked; a fence that says nothing fails.

  ```cpp              a whole translation unit, compiled as C++20 against the headers of this tree
  ```cpp from=PATH    the same text stands in that file, which the build compiles (the whole file, or lines of it)
  ```json             reads as JSON (also `json lines`: one value a line)
  ```sh run           runs with `bash -eu` in an empty folder, with the built programs in PATH and SIGNET_SOURCE_DIR set
  ```console run      each `$ command` runs so, one shell for the block; what it prints is compared, `...` matches anything
  ```LANG test=NAME   the ctest test NAME does what the block says
  ```text             nothing to check: a drawing, a grammar, output

A comment before a fence adds what the reader need not see: `<!-- cpp before: ... -->`, `<!-- cpp after: ... -->`.
Blocks by indentation are refused: nothing would say how to check them.
"""
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile


@dataclasses.dataclass
class Block:
    file: str
    line: int
    words: list
    text: str
    before: str
    after: str

    def option(self, name):
        for word in self.words[1:]:
            if word.startswith(name + "="):
                return word[len(name) + 1 :]
        return None


def blocks_of(file, text):
    """(blocks, problems) of one document."""
    blocks, problems = [], []
    before = after = ""
    lines = text.splitlines()
    in_list = False
    i = 0
    while i < len(lines):
        line = lines[i]
        hidden = re.match(r"<!-- cpp (before|after):(.*)", line)
        if hidden:
            content = hidden.group(2)
            while "-->" not in content:
                i += 1
                content += "\n" + lines[i]
            content = content[: content.index("-->")]
            if hidden.group(1) == "before":
                before = content
            else:
                after = content
            i += 1
            continue
        fence = re.match(r"( *)(`{3,}|~{3,})\s*(.*)$", line)
        if fence:
            indent, mark, info = len(fence.group(1)), fence.group(2), fence.group(3)
            start = i + 1
            body = []
            i += 1
            while i < len(lines) and not lines[i].strip().startswith(mark):
                body.append(lines[i][indent:] if lines[i][:indent].isspace() else lines[i])
                i += 1
            blocks.append(Block(file, start, info.split(), "\n".join(body) + "\n", before, after))
            before = after = ""
        elif re.match(r" {0,3}([-*+]|\d+\.) ", line):
            in_list = True
        elif line and not line[0].isspace():
            in_list = False
        elif line.startswith("    ") and not in_list and (i == 0 or not lines[i - 1].strip()):
            problems.append(f"{file}:{i + 1}: a block by indentation; use a fence that says how to check it")
        i += 1
    return blocks, problems


def broken_links(root, path, text):
    """Links of a document to files that are not there."""
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
            yield f"{path.relative_to(root)}: a link to {target}, which is not there"


class Checker:
    def __init__(self, root, binary, compiler, tests):
        self.root, self.binary, self.compiler, self.tests = root, binary, compiler, tests

    def check(self, block):
        """Why the block fails, or None."""
        if not block.words:
            return "a fence without a language"
        language = block.words[0]
        test = block.option("test")
        if test is not None:
            return None if test in self.tests else f"no ctest test is named {test}"
        if language == "text":
            return None
        if language == "cpp":
            return self.quoted(block) if block.option("from") else self.compiled(block)
        if language == "json":
            return self.read_as_json(block)
        if language in ("sh", "console") and "run" in block.words:
            return self.run(block) if language == "sh" else self.converse(block)
        return f"nothing says how to check this {language} block"

    def quoted(self, block):
        path = self.root / block.option("from")
        if not path.is_file():
            return f"there is no {block.option('from')}"
        return None if block.text in path.read_text() else f"differs from {block.option('from')}"

    def compiled(self, block):
        source = block.before + "\n" + block.text + block.after + "\n"
        command = [self.compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++",
                   f"-I{self.root / 'src'}", "-"]
        result = subprocess.run(command, input=source, capture_output=True, text=True)
        return None if result.returncode == 0 else "does not compile:\n" + result.stderr[:4000]

    def read_as_json(self, block):
        try:
            for piece in block.text.splitlines() if "lines" in block.words else [block.text]:
                json.loads(piece)
        except ValueError as error:
            return f"does not read as JSON: {error}"
        return None

    def environment(self):
        path = f"{self.binary / 'bin'}:{os.environ.get('PATH', '')}"
        return dict(os.environ, PATH=path, SIGNET_SOURCE_DIR=str(self.root))

    def bash(self, script, cwd):
        return subprocess.run(["bash", "-eu", "-c", script], cwd=cwd, env=self.environment(), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)

    def run(self, block):
        with tempfile.TemporaryDirectory() as folder:
            result = self.bash(block.text, folder)
        return None if result.returncode == 0 else f"ended with {result.returncode}:\n{result.stdout[-2000:]}"

    def converse(self, block):
        script = ""
        for line in block.text.splitlines():
            if line.startswith("$ "):
                script += f"printf '%s\\n' {quote(line)}\n{{ {line[2:]}\n}} || true\n"
        with tempfile.TemporaryDirectory() as folder:
            result = self.bash(script, folder)
        pattern = re.escape(block.text.rstrip()).replace(re.escape("..."), r"[\s\S]*?")
        if re.fullmatch(pattern, result.stdout.rstrip()):
            return None
        return "prints something else:\n" + result.stdout[-2000:]


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def self_test():
    """A block that cannot be checked, and each kind of wrong block, must be found."""
    fence = "`" * 3
    checker = Checker(pathlib.Path("."), pathlib.Path("."), "false", {"present"})
    wrong = []
    for info, body, good in [
        ("", "x", False), ("sh", "true", False), ("python", "1", False), ("cpp", "int x", False),
        ("json", "{", False), ("json", "{}", True), ("sh run", "true", True), ("sh run", "false", False),
        ("console run", "$ echo one\none", True), ("console run", "$ echo one\ntwo", False),
        ("console run", "$ echo one two three\none...three", True),
        ("sh test=present", "x", True), ("sh test=absent", "x", False), ("text", "x", True),
        ("cpp from=absent.cc", "x", False),
    ]:
        blocks, _ = blocks_of("self", f"{fence}{info}\n{body}\n{fence}\n")
        if len(blocks) != 1 or (checker.check(blocks[0]) is None) != good:
            wrong.append(f"self-test: {info!r} {body!r}")
    if not blocks_of("self", "text\n\n    indented\n")[1] or blocks_of("self", "- item\n\n    more of it\n")[1]:
        wrong.append("self-test: indented blocks")
    return wrong


def main():
    root, binary, compiler = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    tests = set(pathlib.Path(sys.argv[4]).read_text().split())
    checker = Checker(root, binary, compiler, tests)
    problems = self_test()
    count = 0
    documents = [root / name for name in ("README.md", "ARCHITECTURE.md", "SECURITY.md")]
    for path in documents + sorted((root / "doc").glob("*.md")):
        blocks, found = blocks_of(path.relative_to(root).as_posix(), path.read_text())
        problems += found
        problems += broken_links(root, path, path.read_text())
        for block in blocks:
            count += 1
            reason = checker.check(block)
            if reason:
                problems.append(f"{block.file}:{block.line}: {reason}")
    for line in problems:
        print(line)
    print(f"documents: {count} blocks, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
