#!/usr/bin/env python3
"""What judge.py lets pass, and what it does not."""
import io
import json
import os
import sys
import tempfile
import unittest
from contextlib import redirect_stdout
from unittest.mock import patch

import judge

LIST = """Required for 2026-07-28

Server scenarios (test against a server):
  - tools-list
  - caching

Client scenarios (test against a client):
  - http-standard-headers

Run and reported, but never scored:
  extension (2):
    - tasks-lifecycle [server]
    - auth/dpop [client]
"""


def check(status, **more):
    return dict({"id": "c", "description": "d", "status": status}, **more)


class Judge(unittest.TestCase):
    def test_reads_the_scenarios_of_a_leg(self):
        self.assertEqual(judge.scenarios_of(LIST, "server"), ["tools-list", "caching", "tasks-lifecycle"])
        self.assertEqual(judge.scenarios_of(LIST, "client"), ["http-standard-headers", "auth/dpop"])

    def test_wants_a_success(self):
        self.assertEqual(judge.verdict("tools-list", [check("SUCCESS"), check("INFO")])[0], "pass")
        self.assertEqual(judge.verdict("tools-list", [check("INFO")])[0], "fail")
        self.assertEqual(judge.verdict("tools-list", [])[0], "fail")
        self.assertEqual(judge.verdict("tools-list", None)[0], "fail")
        self.assertEqual(judge.verdict("http-standard-headers", [check("SUCCESS")] * 8)[0], "fail")
        self.assertEqual(judge.verdict("http-standard-headers", [check("SUCCESS")] * 9)[0], "pass")

    def test_lets_no_failure_and_no_warning_pass(self):
        for bad in (check("FAILURE"), check("WARNING"), check("SKIPPED", details={"untestable": True})):
            self.assertEqual(judge.verdict("tools-list", [check("SUCCESS"), bad])[0], "fail")

    def test_names_what_the_suite_skips(self):
        self.assertEqual(judge.verdict("tools-list", [check("SKIPPED")])[0], "skipped")
        self.assertEqual(judge.verdict("tools-list", [check("SKIPPED"), check("SUCCESS")])[0], "pass")

    def run_with(self, results, unmet=""):
        """(exit code, what was printed) for the server at 2026-07-28."""
        with tempfile.TemporaryDirectory() as folder:
            for name, checks in results.items():
                place = os.path.join(folder, "out", "server-%s-2026-07-28T01-02-03-456Z" % name)
                os.makedirs(place)
                with open(os.path.join(place, "checks.json"), "w", encoding="utf-8") as file:
                    json.dump(checks, file)
            for name, text in (("list", LIST), ("unmet", unmet)):
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(text)
            arguments = ["judge.py", "server", "2026-07-28"] + [os.path.join(folder, n) for n in ("list", "out", "unmet")]
            with patch.object(sys, "argv", arguments), redirect_stdout(io.StringIO()) as printed:
                code = judge.main()
            return code, printed.getvalue()

    def test_counts(self):
        good = {name: [check("SUCCESS")] for name in ("tools-list", "caching", "tasks-lifecycle")}
        self.assertEqual(self.run_with(good)[0], 0)
        self.assertIn("3 passed, 0 failed", self.run_with(good)[1])
        del good["caching"]
        code, printed = self.run_with(good)
        self.assertEqual(code, 1)
        self.assertIn("2 passed, 1 failed", printed)

    def test_shows_what_is_known_to_be_unmet_and_drops_what_is_met(self):
        results = {"tools-list": [check("SUCCESS")], "caching": [check("FAILURE")], "tasks-lifecycle": [check("SUCCESS")]}
        unmet = "# comment\nserver 2026-07-28 caching: later\nserver 2025-11-25 tools-list: another revision\n"
        code, printed = self.run_with(results, unmet)
        self.assertEqual(code, 0)
        self.assertIn("later", printed)
        self.assertEqual(self.run_with(results, unmet + "server 2026-07-28 tools-list: stale\n")[0], 1)


if __name__ == "__main__":
    unittest.main()
