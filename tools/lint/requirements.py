"""Checks doc/requirements.md against the sources and the tests.

Usage: requirements.py SOURCE_DIR. Prints each number that nothing meets or nothing tests; exits 1 if there is one. A row names the
files that meet it and the tests, and each of those tests names the number in a comment. A duty that is not ours says why, and only
the client's duties of authorization may be open.
"""
import pathlib
import re
import sys

# How many there are of each kind.
NUMBERS = {"S": 97, "B": 30, "C": 72, "X": 18, "A": 1}
# The client's side of authorization.
MAY_BE_OPEN = {f"C{number}" for number in range(53, 72)}


def find(root, name):
    """The file of that name, from src/signet or from the top; or None."""
    for folder in (root / "src" / "signet", root):
        if (folder / name).is_file():
            return folder / name
    return None


def names_in(text):
    """The numbers that a file names: in comments of C++ and in Python."""
    return set(re.findall(r"\b[SBCXA]\d{1,2}\b", text))


def read_rows(text):
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"[SBCXA]\d{1,2}", cells[0]):
            if cells[0] in rows:
                yield f"{cells[0]}: two rows"
            rows[cells[0]] = cells[1:]
    yield rows


def problems_of(number, row, root):
    demands, met, tested = row
    if not demands:
        yield "says nothing"
    for kind in ("not ours: ", "open: "):
        if met.startswith(kind) and len(met) > len(kind):
            if kind == "open: " and number not in MAY_BE_OPEN:
                yield "is open"
            return
    files, tests = re.findall(r"`([^`]+)`", met), re.findall(r"`([^`]+)`", tested)
    if not files:
        yield "nothing meets it"
    if not tests:
        yield "nothing tests it"
    for name in files:
        if find(root, name) is None:
            yield f"{name} is not there"
    for name in tests:
        file = find(root, name)
        if file is None:
            yield f"{name} is not there"
        elif number not in names_in(file.read_text()):
            yield f"{name} does not name it"


def main():
    root = pathlib.Path(sys.argv[1])
    *problems, rows = read_rows((root / "doc" / "requirements.md").read_text())
    for kind, last in NUMBERS.items():
        for number in (f"{kind}{n}" for n in range(1, last + 1)):
            if number not in rows:
                problems.append(f"{number}: no row")
                continue
            problems += [f"{number}: {problem}" for problem in problems_of(number, rows[number], root)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
