"""Finds the spellings of co_await that g++ 12 miscompiles (STYLE.md section 7).

Usage: coroutines.py SOURCE_DIR. Exits 1 if there is one, or if the self-tests in testdata/ do not hold: every line marked
`// bad: RULE` is found with that rule, and nothing else is.

Rules, each of a full-expression with a co_await in it:
  condition   the condition of if, while, switch or for
  operator    an operand of ! && || ?:
  braces      a braced list or aggregate in the same full-expression
  capture     a lambda that owns a capture in the same full-expression
  macro       an argument of a macro, which may put it into any of these
and of lambdas that are coroutines themselves:
  coroutine_lambda   it has captures, which die before it ends
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import cpp_text  # noqa: E402

OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = {")", "]", "}"}
TYPE_WORDS = {"namespace", "struct", "class", "enum", "union", "extern"}
BLOCK_BEFORE = {")", ";", "{", "}", "else", "do", "try", "const", "noexcept", "override", "final", "mutable", ":", "]"}


class Source:
    def __init__(self, text):
        pairs = cpp_text.tokens(text)
        self.tokens = [t for t, _ in pairs]
        self.lines = [l for _, l in pairs]
        self.match = self.match_brackets()

    def match_brackets(self):
        match = {}
        stack = []
        for i, token in enumerate(self.tokens):
            if token in OPEN:
                stack.append(i)
            elif token in CLOSE:
                while stack and OPEN[self.tokens[stack[-1]]] != token:
                    stack.pop()
                if stack:
                    start = stack.pop()
                    match[start] = i
                    match[i] = start
        return match

    def token(self, i):
        return self.tokens[i] if 0 <= i < len(self.tokens) else ""

    def is_block(self, i):
        """Whether the `{` at i opens a block (or a body) rather than a braced list."""
        before = self.token(i - 1)
        if before in BLOCK_BEFORE or before == "":
            return True
        # Back over what may be a trailing return type, a class head or a name, to see what it belongs to.
        j = i - 1
        while j >= 0 and self.tokens[j] not in (";", "{", "}", "=", ",", "return", "co_return", "co_await"):
            if self.tokens[j] in (")", "]") and j in self.match:
                j = self.match[j] - 1
                continue
            if self.tokens[j] == "(":
                return False
            if self.tokens[j] == "->" and self.token(j - 1) in (")", "]", "mutable", "noexcept"):
                return True
            if self.tokens[j] in TYPE_WORDS:
                return True
            j -= 1
        return False

    def is_lambda(self, i):
        """Whether the `[` at i begins a lambda (not a subscript, not an attribute)."""
        before = self.token(i - 1)
        if before in (")", "]", '""') or self.token(i + 1) == "[" or before == "[":
            return False
        if re.match(r"\w", before) and before not in ("return", "co_return", "co_await", "co_yield", "case", "else"):
            return False
        return i in self.match

    def lambda_body(self, i):
        """The `{` of the body of the lambda whose `[` is at i, or None."""
        j = self.match[i] + 1
        depth = 0
        while j < len(self.tokens):
            token = self.tokens[j]
            if token == "{":
                return j
            if token == "(" and j in self.match:
                j = self.match[j]
            elif token == "<":
                depth += 1
            elif token in (";", ")", "]", "}") or (token == "," and depth == 0):
                return None
            elif token == ">":
                depth -= 1
            j += 1
        return None


def full_expression(source, at):
    """(start, end, wrapper) of the full-expression around token `at`.

    wrapper: None, or why the place itself is forbidden ('condition', 'braces', 'capture', 'macro')."""
    wrapper = None
    i = at - 1
    while i >= 0:
        token = source.tokens[i]
        if token == ";":
            break
        if token == "}":
            opening = source.match.get(i)
            if opening is None or source.is_block(opening):
                # The end of a block before us, unless it is a lambda's body inside our expression.
                if opening is None or not lambda_before(source, opening):
                    break
            i = opening - 1
            continue
        if token in (")", "]") and i in source.match:
            opening = source.match[i]
            if token == ")" and is_head(source, opening):
                break
            i = opening - 1
            continue
        if token == "{":
            if source.is_block(i):
                break
            wrapper = wrapper or "braces"
        if token == "[" and source.is_lambda(i):
            wrapper = wrapper or "capture"
        if token == "(":
            before = source.token(i - 1)
            if before == "constexpr":
                before = source.token(i - 2)
            if before in ("if", "while", "switch"):
                wrapper = wrapper or "condition" if not followed_by_clause(source, i, at) else wrapper
                break
            if before == "for":
                wrapper = wrapper or ("condition" if semicolons_before(source, i, at) == 1 else None)
                break
            if re.fullmatch(r"[A-Z][A-Z0-9_]{3,}", before) and i in source.match:
                wrapper = wrapper or "macro"
        i -= 1
    start = i + 1
    # `if (init; condition)`: a semicolon stopped us inside the parentheses of a head.
    if wrapper is None and source.token(i) == ";":
        head = enclosing_parenthesis(source, i)
        if head is not None:
            before = source.token(head - 1)
            if before in ("if", "switch") or (before == "for" and semicolons_before(source, head, at) == 1):
                wrapper = "condition"
    end = at
    while end < len(source.tokens):
        token = source.tokens[end]
        if token in OPEN and end in source.match:
            end = source.match[end] + 1
            continue
        if token == ";" or (token in CLOSE and source.match.get(end, start) < start):
            break
        end += 1
    return start, end, wrapper


def lambda_before(source, brace):
    """Whether the `{` at `brace` is the body of a lambda."""
    j = brace - 1
    while j >= 0 and source.tokens[j] not in (";", "{", "}"):
        if source.tokens[j] == "]" and j in source.match:
            opening = source.match[j]
            return source.is_lambda(opening) and source.lambda_body(opening) == brace
        if source.tokens[j] == ")" and j in source.match:
            j = source.match[j]
        j -= 1
    return False


def is_head(source, parenthesis):
    before = source.token(parenthesis - 1)
    if before == "constexpr":
        before = source.token(parenthesis - 2)
    return before in ("if", "while", "switch", "for", "catch")


def enclosing_parenthesis(source, at):
    i = at - 1
    while i >= 0:
        token = source.tokens[i]
        if token in CLOSE and i in source.match:
            i = source.match[i] - 1
            continue
        if token == "(":
            return i
        if token == "{":
            return None
        i -= 1
    return None


def clauses(source, opening):
    """Positions of the semicolons directly inside the parenthesis at `opening`."""
    out = []
    i = opening + 1
    end = source.match.get(opening, len(source.tokens))
    while i < end:
        if source.tokens[i] in OPEN and i in source.match:
            i = source.match[i]
        elif source.tokens[i] == ";":
            out.append(i)
        i += 1
    return out


def followed_by_clause(source, opening, at):
    return any(position > at for position in clauses(source, opening))


def semicolons_before(source, opening, at):
    marks = clauses(source, opening)
    return sum(1 for position in marks if position < at) if marks else -1


def operators_around(source, start, end, at):
    """Whether the co_await at `at` is inside an operand of ! && || ?: within [start, end)."""
    low, high = at, at
    while True:
        # The comma-separated piece of this bracket level that holds [low, high].
        i = low - 1
        operator = False
        while i >= start:
            token = source.tokens[i]
            if token in CLOSE and i in source.match:
                i = source.match[i] - 1
                continue
            if token in OPEN or token == "," or token == "=":
                break
            operator = operator or token in ("&&", "||", "?", "!")
            i -= 1
        opening = i
        while opening >= start and source.tokens[opening] not in OPEN:
            token = source.tokens[opening]
            opening = source.match[opening] - 1 if token in CLOSE and opening in source.match else opening - 1
        j = high + 1
        while j < end:
            token = source.tokens[j]
            if token in OPEN and j in source.match:
                j = source.match[j] + 1
                continue
            if token in CLOSE or token == ",":
                break
            operator = operator or token in ("&&", "||", "?")
            j += 1
        if operator:
            return True
        if opening < start or opening not in source.match:
            return False
        low, high = opening, source.match[opening]
        if high >= end:
            return False


def inside(source, start, end):
    """The rules that something else in [start, end) breaks: braced lists and owning lambdas."""
    i = start
    while i < end:
        token = source.tokens[i]
        if token == "[" and source.is_lambda(i):
            body = source.lambda_body(i)
            if body is not None and body in source.match:
                captures = source.tokens[i + 1 : source.match[i]]
                if owns(captures):
                    yield i, "capture"
                i = source.match[body] + 1
                continue
        if token == "{" and not source.is_block(i):
            yield i, "braces"
            i = source.match.get(i, i)
        i += 1


def owns(captures):
    """Whether a capture list holds anything by value but `this`."""
    pieces = " ".join(captures).split(",")
    for piece in pieces:
        words = piece.split()
        if words and words[0] != "&" and words != ["this"]:
            return True
    return False


def problems(text):
    source = Source(text)
    found = set()
    for at, token in enumerate(source.tokens):
        if token == "co_await" and source.token(at - 1) != "operator":
            line = source.lines[at]
            start, end, wrapper = full_expression(source, at)
            if wrapper:
                found.add((line, wrapper))
                if wrapper == "macro":
                    continue
            if operators_around(source, start, end, at):
                found.add((line, "operator"))
            for place, rule in inside(source, start, end):
                found.add((source.lines[place], rule))
        if token == "[" and source.is_lambda(at):
            body = source.lambda_body(at)
            if body is None or body not in source.match or source.match[at] == at + 1:
                continue
            if own_body_awaits(source, body):
                found.add((source.lines[at], "coroutine_lambda"))
    return sorted(found)


def own_body_awaits(source, body):
    i = body + 1
    end = source.match[body]
    while i < end:
        token = source.tokens[i]
        if token == "[" and source.is_lambda(i):
            inner = source.lambda_body(i)
            if inner is not None and inner in source.match:
                i = source.match[inner]
        elif token in ("co_await", "co_return", "co_yield"):
            return True
        i += 1
    return False


def self_test(folder):
    wrong = []
    for name in ("coroutine_bad.cc", "coroutine_good.cc"):
        text = (folder / name).read_text()
        expected = set()
        for number, line in enumerate(text.splitlines(), 1):
            match = re.search(r"// bad: (\w+)", line)
            if match:
                expected.add((number, match.group(1)))
        found = set(problems(text))
        wrong += [f"{name}:{n}: not found: {rule}" for n, rule in sorted(expected - found)]
        wrong += [f"{name}:{n}: wrongly found: {rule}" for n, rule in sorted(found - expected)]
        if (name == "coroutine_bad.cc") == (not expected):
            wrong.append(f"{name}: {len(expected)} marks")
    return wrong


def main():
    root = pathlib.Path(sys.argv[1])
    wrong = self_test(pathlib.Path(__file__).parent / "testdata")
    for line in wrong:
        print(f"self-test: {line}")
    count = files = 0
    for folder in ("src", "examples", "conformance", "bench"):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in (".h", ".cc"):
                continue
            files += 1
            for line, rule in problems(file.read_text()):
                count += 1
                print(f"{file.relative_to(root)}:{line}: {rule}")
    print(f"coroutines: {files} files, {count} forbidden spellings")
    return 1 if wrong or count or files == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
