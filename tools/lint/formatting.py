"""Checks that every C++ file is as clang-format would write it.

Usage: formatting.py SOURCE_DIR [CLANG_FORMAT]. Exits 77 (skipped) where the program is not installed.
"""
import pathlib
import shutil
import subprocess
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    program = shutil.which(sys.argv[2] if len(sys.argv) > 2 else "clang-format-19")
    if program is None:
        print("SKIPPED: clang-format-19 is not installed")
        return 77
    folders = ("src", "examples", "conformance", "bench", "tools/fuzzing")
    files = sorted(f for folder in folders for f in (root / folder).rglob("*") if f.suffix in (".h", ".cc"))
    bad = 0
    for i in range(0, len(files), 50):
        command = [program, "--dry-run", "-Werror", "--ferror-limit=1", *map(str, files[i : i + 50])]
        result = subprocess.run(command, cwd=root, stderr=subprocess.PIPE, text=True)
        if result.returncode != 0:
            bad += 1
            print(result.stderr)
    print(f"format: {len(files)} files" + (", some not formatted" if bad else ", all formatted"))
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main())
