#!/usr/bin/env python3
"""Reads what the official conformance suite wrote and says which scenarios pass.

  judge.py LEG REVISION LIST OUT UNMET [SCENARIO...]

LEG is server or client; LIST holds what `conformance list --requirements REVISION` printed; OUT is the folder of the
run (`-o`). The suite's own marks and exit code are green for scenarios that found nothing to judge, so a scenario
passes here only if it has no FAILURE, no WARNING, no check that calls itself untestable, and at least one SUCCESS
(http-standard-headers: nine). A scenario that the suite itself skips entirely is reported as that.

UNMET names scenarios that are known not to pass, one a line: `LEG REVISION SCENARIO: reason`. They are shown with their
reason; one that passes although it is listed is a failure, so that the list cannot grow old.

Ends with `N passed, M failed`; exit code 1 if M is not 0.
"""
import glob
import json
import os
import re
import sys

SUCCESS_MIN = {"http-standard-headers": 9}


def scenarios_of(list_text, leg):
    """The names of the leg, scored and not scored, in the order of the list."""
    section, names = None, []
    for line in list_text.splitlines():
        if line.startswith("Server scenarios"):
            section = "server"
        elif line.startswith("Client scenarios"):
            section = "client"
        elif line.startswith("Run and reported"):
            section = "tagged"
        found = re.match(r"\s+- (\S+)(?: \[(\w+)\])?$", line)
        if found and leg == (found.group(2) if section == "tagged" else section):
            names.append(found.group(1))
    return names


def checks_of(out, leg, scenario):
    """The checks of the scenario's run, or None if it left none behind."""
    prefix = "server-" + scenario if leg == "server" else scenario
    stamp = re.compile(re.escape(prefix) + r"-\d{4}-\d\d-\d\dT[\d-]+Z$")
    folders = [f for f in glob.glob(os.path.join(out, glob.escape(prefix) + "-*"))
               if stamp.match(os.path.relpath(f, out))]
    if not folders:
        return None
    try:
        with open(os.path.join(max(folders), "checks.json"), encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def verdict(scenario, checks):
    """('pass' | 'fail' | 'skipped', sentence)"""
    if checks is None:
        return "fail", "the suite left no result"
    for check in checks:
        bad = check["status"] in ("FAILURE", "WARNING")
        if bad or (check.get("details") or {}).get("untestable"):
            return "fail", "%s %s: %s" % (check["id"], check["status"], check.get("errorMessage") or check["description"])
    succeeded = sum(check["status"] == "SUCCESS" for check in checks)
    if succeeded == 0 and checks and all(check["status"] == "SKIPPED" for check in checks):
        return "skipped", "the suite skips every check of it"
    if succeeded < SUCCESS_MIN.get(scenario, 1):
        return "fail", "only %d checks succeeded" % succeeded
    return "pass", "%d checks" % succeeded


def read_unmet(path, leg, revision):
    unmet = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            found = re.match(r"(\w+) (\S+) (\S+): (.+)", line)
            if found and (found.group(1), found.group(2)) == (leg, revision):
                unmet[found.group(3)] = found.group(4)
    return unmet


def main():
    leg, revision, list_path, out, unmet_path = sys.argv[1:6]
    with open(list_path, encoding="utf-8") as file:
        names = scenarios_of(file.read(), leg)
    wanted = sys.argv[6:]
    if wanted:
        names = [name for name in names if name in wanted]
        if not names:
            print("none of these is judged at %s" % revision)
            return 0
    unmet = read_unmet(unmet_path, leg, revision)
    passed = failed = 0
    for name in names:
        state, why = verdict(name, checks_of(out, leg, name))
        if name in unmet and state == "fail":
            state, why = "unmet", "%s (%s)" % (unmet[name], why)
        elif name in unmet:
            state, why = "fail", "passes, but is still listed as unmet"
        passed += state == "pass"
        failed += state == "fail"
        print("%-7s %s %s %s: %s" % (state, leg, revision, name, why[:300]))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
