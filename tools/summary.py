"""Adds up the reports of several test runs.

Usage: summary.py BROKEN RUN=JUNIT_FILE...
BROKEN is the number of runs that did not even build; each counts as one failure. Prints what failed, why tests were
skipped, one line for each run, and as the last line `N passed, N failed, N skipped`. Exits 1 if anything failed or
nothing ran.
"""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def reason_of(case):
    """Why a test was skipped, from what it printed."""
    output = case.findtext("system-out") or ""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for i, line in enumerate(lines):
        if line.startswith("SKIPPED:"):
            return line[len("SKIPPED:") :].strip()
        # GoogleTest prints the place, `Skipped`, and the sentence.
        if re.search(r": Skipped$", line) and i + 1 < len(lines):
            return lines[i + 1]
    skipped = case.find("skipped")
    return (skipped.get("message") if skipped is not None else None) or (lines[-1] if lines else "says no reason")


def read(path):
    """(passed, failed names, {reason: names}) of one report."""
    passed, failed, skipped = 0, [], collections.defaultdict(list)
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = case.get("name")
        status = case.get("status")
        if case.find("failure") is not None or status == "fail":
            failed.append(name)
        elif case.find("skipped") is not None or status in ("notrun", "disabled"):
            skipped[reason_of(case)].append(name)
        else:
            passed += 1
    return passed, failed, skipped


def main():
    broken = int(sys.argv[1])
    totals = [0, broken, 0]
    rows = []
    for argument in sys.argv[2:]:
        run, _, path = argument.partition("=")
        if not pathlib.Path(path).is_file():
            print(f"{run}: no report: the tests did not run")
            totals[1] += 1
            continue
        passed, failed, skipped = read(path)
        count = sum(len(names) for names in skipped.values())
        for name in failed:
            print(f"{run}: failed: {name}")
        for reason, names in sorted(skipped.items()):
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
            print(f"{run}: skipped: {shown}: {reason}")
        rows.append(f"{run}: {passed} passed, {len(failed)} failed, {count} skipped")
        if passed + len(failed) == 0:
            print(f"{run}: no test ran")
            totals[1] += 1
        totals = [totals[0] + passed, totals[1] + len(failed), totals[2] + count]
    if broken:
        print(f"{broken} of the runs did not build")
    print("\n" + "\n".join(rows))
    print("{} passed, {} failed, {} skipped".format(*totals))
    return 1 if totals[1] or totals[0] == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
