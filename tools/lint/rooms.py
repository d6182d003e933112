"""Checks every #include under src/signet against the table of rooms in ARCHITECTURE.md.

Usage: rooms.py SOURCE_DIR. Prints each include that breaks the table; exits 1 if there is one.
"""
import pathlib
import re
import sys

# How the third parties are known by their headers.
THIRD_PARTIES = [
    ("OpenSSL", r"openssl/"),
    ("Boost.JSON", r"boost/json"),
    ("Beast", r"boost/beast"),
    ("Asio", r"boost/(asio|system|core)\b|asio"),
    ("Beast", r"boost/"),
    ("RE2", r"re2/"),
    ("SQLite", r"sqlite3\.h$"),
    ("hiredis", r"hiredis/"),
    ("CLI11", r"CLI/"),
    ("prometheus-cpp", r"prometheus/"),
    ("nlohmann", r"nlohmann/"),
    ("tests", r"(gtest|gmock|rapidcheck)/|rapidcheck\.h$"),
    ("benchmarks", r"benchmark/"),
    (
        "POSIX",
        r"(sys|netinet|arpa|linux)/|(unistd|fcntl|poll|signal|spawn|pthread|termios|netdb|dirent|syslog|pwd|grp|sched"
        r"|dlfcn|malloc|stdlib|string|strings|time|errno|limits)\.h$",
    ),
]
# The language's headers, and the compilers' for the processor's instructions.
STANDARD = re.compile(r"[a-z_0-9]+$|(immintrin|arm_neon)\.h$")
# The journal is pure values: these would let a clock, a key, a coroutine or I/O in.
PURE_ROOMS = {"rounds"}
IMPURE = re.compile(
    r"signet/base/(task|one_shot|executor|clock|entropy|secret)\.h$|"
    r"(coroutine|chrono|ctime|thread|mutex|atomic|condition_variable|future|random|fstream|iostream|istream|ostream"
    r"|filesystem|cstdio)$"
)


class Room:
    def __init__(self, name, may, third):
        self.name = name
        self.all = may == "all"
        self.may = set(may.replace(",", " ").split()) | {name}
        self.third = {}  # library -> file stems, or None for any file
        for clause in re.split(r"[;,]", third):
            words = clause.strip()
            if not words:
                continue
            library, _, files = words.partition(" in ")
            self.third[library.strip()] = re.findall(r"`([^`]+)`", files) or None


def read_table(text):
    rooms = {}
    section = text.split("\n## Rooms", 1)[1].split("\n## ", 1)[0]
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"`[a-z_/.]+`", cells[0]):
            name = cells[0].strip("`")
            rooms[name] = Room(name, cells[2], cells[3])
    return rooms


def room_of(path, rooms):
    """The room of a path below src/signet: the longest room name that is a folder of it."""
    folder = pathlib.PurePosixPath(path).parent
    for candidate in [folder, *folder.parents]:
        if str(candidate) in rooms and (str(candidate) != "." or candidate == folder):
            return rooms[str(candidate)]
    return None


def third_party(header):
    for name, pattern in THIRD_PARTIES:
        if re.match(pattern, header):
            return name
    return None


def public_headers(root):
    """The headers that users may include (cmake/public_headers.txt) and all that these include, below src/signet."""
    top = root / "src" / "signet"
    waiting = [line.strip() for line in (root / "cmake" / "public_headers.txt").read_text().splitlines()]
    waiting = [line for line in waiting if line and not line.startswith("#")]
    found = set()
    while waiting:
        header = waiting.pop()
        if header in found or not header.startswith("signet/"):
            continue
        found.add(header)
        file = top / header[len("signet/") :]
        if file.is_file():
            waiting += [included for _, _, included in includes(file.read_text())]
    return {header[len("signet/") :] for header in found}


def complaint(path, header, rooms, public_set=frozenset()):
    """Why `path` (below src/signet) may not include `header`, or None."""
    room = room_of(path, rooms)
    if room is None:
        return "the file is in no room of ARCHITECTURE.md"
    stem = pathlib.PurePosixPath(path).name
    public = path in public_set
    test = re.search(r"_(test|fuzz|bench)\.cc$", stem) is not None
    if room.name in PURE_ROOMS and not test and IMPURE.match(header):
        return f"{room.name} is pure values"
    if header.startswith("signet/"):
        target = header[len("signet/"):]
        other = room_of(target, rooms)
        if other is None:
            return "the header is in no room of ARCHITECTURE.md"
        if not room.all and other.name not in room.may:
            return f"{room.name} may not include {other.name}"
        return None
    library = third_party(header)
    if library is None:
        return None if STANDARD.match(header) else "unknown header"
    if library in ("tests", "benchmarks"):
        if test or (stem.startswith("testing") and not public):
            return None
        return "only tests and benchmarks include this"
    if public and library != "POSIX" and room.name != ".":
        return f"{library} in a public header"
    if test and library == "POSIX":
        return None
    if library not in room.third:
        return f"{room.name} may not include {library}"
    files = room.third[library]
    if files is not None and not test and not any(stem.startswith(f) for f in files):
        return f"in {room.name}, {library} belongs in {', '.join(files)}"
    return None


def includes(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match.group(1), match.group(2)


def check_tree(root):
    rooms = read_table((root / "ARCHITECTURE.md").read_text())
    assert len(rooms) > 10, "the table of rooms was not found"
    public_set = public_headers(root)
    top = root / "src" / "signet"
    problems = [f"cmake/public_headers.txt: there is no signet/{h}" for h in sorted(public_set) if not (top / h).is_file()]
    checked = 0
    for file in sorted(top.rglob("*")):
        if file.suffix not in (".h", ".cc"):
            continue
        path = file.relative_to(top).as_posix()
        for number, kind, header in includes(file.read_text()):
            checked += 1
            reason = "use <signet/...>" if kind == '"' else complaint(path, header, rooms, public_set)
            if reason:
                problems.append(f"src/signet/{path}:{number}: {header}: {reason}")
    return checked, problems


def check_targets(root):
    """The targets that CMake makes must link the rooms that the table names, no more and no fewer."""
    rooms = read_table((root / "ARCHITECTURE.md").read_text())
    problems = []
    seen = set()
    for name, words in re.findall(r"signet_room\(([\w/]+)\s+([^)]*)\)", (root / "CMakeLists.txt").read_text() + " "):
        seen.add(name)
        room = rooms.get(name)
        if room is None:
            problems.append(f"CMakeLists.txt: {name} is in no row of ARCHITECTURE.md")
            continue
        match = re.search(r"ROOMS\s+((?:[a-z/]+\s*)+)", words)
        linked = set(match.group(1).split()) if match else set()
        if not room.all and linked != room.may - {name}:
            problems.append(f"CMakeLists.txt: {name} links {sorted(linked)}, the table says {sorted(room.may - {name})}")
    for folder in sorted((root / "src" / "signet").rglob("*.cc")):
        name = room_of(folder.relative_to(root / "src" / "signet").as_posix(), rooms)
        if name is not None and name.name not in seen and name.name != ".":
            problems.append(f"CMakeLists.txt: there is no target for {name.name}")
            break
    return problems


def check_guide(root):
    """README.md's guide to the headers names exactly the public ones."""
    guide = (root / "README.md").read_text().partition("## Guide to the headers")[2].partition("\n## ")[0]
    shown = set(re.findall(r"^\| `<(signet/[^>]+)>`", guide, re.MULTILINE))
    named = {line.strip() for line in (root / "cmake" / "public_headers.txt").read_text().splitlines() if line[:1] != "#"}
    return [f"README.md: the guide and cmake/public_headers.txt differ in {h}" for h in sorted(shown ^ named)]


def self_test(root):
    """The law must refuse what it is for, or a green run means nothing."""
    rooms = read_table((root / "ARCHITECTURE.md").read_text())
    public = {"transport/public.h", "base/secret_public.h", "json/value.h"}
    refused = [
        ("client/retry.cc", "signet/token/codec.h"),
        ("client/retry_test.cc", "signet/token/codec.h"),
        ("server/dispatch.cc", "signet/transport/http.h"),
        ("token/codec.cc", "signet/json/value.h"),
        ("token/codec.cc", "openssl/evp.h"),
        ("token/codec.h", "openssl/evp.h"),
        ("base/secret_public.h", "openssl/evp.h"),
        ("rounds/journal.cc", "signet/base/task.h"),
        ("rounds/journal.cc", "chrono"),
        ("json/value.h", "boost/json.hpp"),
        ("store/memory.cc", "sqlite3.h"),
        ("base/log.cc", "gtest/gtest.h"),
        ("attic/old.cc", "string"),
        ("base/log.cc", "signet/attic/old.h"),
        ("transport/public.h", "boost/asio/io_context.hpp"),
        ("base/log.cc", "absl/strings/str_cat.h"),
    ]
    allowed = [
        ("token/aead.cc", "openssl/evp.h"),
        ("token/profiles/rmcp.cc", "signet/token/foreign.h"),
        ("transport/asio_executor.h", "boost/asio/io_context.hpp"),
        ("server/dispatch.cc", "signet/rounds/journal.h"),
        ("json/pattern.cc", "re2/re2.h"),
        ("store/sqlite.cc", "sqlite3.h"),
        ("cli/call.cc", "signet/client/client.h"),
        ("base/task_test.cc", "gtest/gtest.h"),
        ("rounds/journal.cc", "string"),
    ]
    wrong = [f"allowed: {p} -> {h}" for p, h in refused if complaint(p, h, rooms, public) is None]
    wrong += [f"refused: {p} -> {h}: {complaint(p, h, rooms)}" for p, h in allowed if complaint(p, h, rooms)]
    return wrong


def main():
    root = pathlib.Path(sys.argv[1])
    wrong = self_test(root)
    for line in wrong:
        print(f"self-test: {line}")
    checked, problems = check_tree(root)
    problems += check_targets(root) + check_guide(root)
    for line in problems:
        print(line)
    print(f"rooms: {checked} includes, {len(problems)} against the table")
    return 1 if wrong or problems or checked == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
