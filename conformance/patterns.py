#!/usr/bin/env python3
"""Every branch of examples/patterns, over stdio. Usage: patterns.py DIR_OF_PROGRAMS"""
import sys
from urllib.parse import parse_qs, urlparse

from wire import META, Report, StdioServer, message

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class Flow:
    """One call of a tool, round after round."""

    def __init__(self, server, tool, arguments=None, capabilities=None):
        self.server, self.params = server, {"name": tool, "arguments": arguments or {}}
        self.meta = dict(META, **{CAPABILITIES: capabilities or {"elicitation": {"form": {}, "url": {}}}})
        self.seen = self._send({})

    def _send(self, more):
        request = message("tools/call", dict(self.params, **more))
        request["params"]["_meta"] = self.meta
        self.seen = self.server.ask(request)
        return self.seen

    def question(self):
        """(key, params) of the only question, or (None, None)."""
        asked = self.seen.get("result", {}).get("inputRequests") or {}
        return next(((key, entry["params"]) for key, entry in asked.items()), (None, None))

    def answer(self, content=None, action="accept"):
        key, _ = self.question()
        reply = {"action": action} if content is None else {"action": action, "content": content}
        self._send({"inputResponses": {key: reply}, "requestState": self.seen["result"]["requestState"]})
        return self

    def text(self):
        return self.seen.get("result", {}).get("content", [{}])[0].get("text")


def wizard(server, report):
    flow = Flow(server, "book_trip")
    report.check("the wizard asks for the trip", flow.question()[0] == "trip", flow.seen)
    flow.answer({"destination": "Oslo", "nights": 3})
    report.check("the second form knows the first answer", "Oslo" in (flow.question()[1] or {}).get("message", ""), flow.seen)
    flow.answer({"name": "Ada", "email": "ada@example.com"})
    report.check("a short stay needs no kitchen", flow.text() == "Booked a room in Oslo for Ada, 3 nights.", flow.seen)
    flow = Flow(server, "book_trip").answer({"destination": "Rome", "nights": 9}).answer({"name": "Bo", "email": "b@example.com"})
    report.check("a long one does", flow.question()[0] == "kitchen", flow.seen)
    flow.answer({"kitchen": True})
    report.check("and its answer counts", flow.text() == "Booked a flat in Rome for Bo, 9 nights.", flow.seen)
    flow = Flow(server, "book_trip").answer(action="decline")
    report.check("the wizard can be left", flow.text() == "Nothing was booked.", flow.seen)


def confirm(server, report):
    ask = {"name": "apollo"}
    report.check("the right name deletes", Flow(server, "delete_project", ask).answer({"name": "apollo"}).text() == "Deleted apollo.")
    report.check("another does not", "Nothing" in Flow(server, "delete_project", ask).answer({"name": "x"}).text())
    report.check("no does not", Flow(server, "delete_project", ask).answer(action="decline").text() == "Nothing was deleted.")
    forged = server.ask(message("tools/call", {"name": "delete_project", "arguments": ask,
                                               "inputResponses": {"confirm": {"action": "accept", "content": ask}}}))
    report.check("a yes that nobody asked for does not count", forged.get("result", {}).get("resultType") == "input_required", forged)
    flow = Flow(server, "delete_project", ask, capabilities={"roots": {}})
    report.check("a client that cannot ask is told so", flow.seen["result"].get("isError"), flow.seen)


def pick(server, report):
    flow = Flow(server, "reserve_room", {"people": 6})
    field = flow.question()[1]["requestedSchema"]["properties"]["room"]
    report.check("only what fits is offered", [c["const"] for c in field["oneOf"]] == ["r2", "r3"], field)
    report.check("the choice is taken", flow.answer({"room": "r3"}).text() == "Reserved r3.", flow.seen)
    flow = Flow(server, "reserve_room", {"people": 6}).answer({"room": "r1"})
    report.check("what was not offered is asked again", flow.question()[0] == "room", flow.seen)


def login(server, report):
    flow = Flow(server, "connect_account")
    _, params = flow.question()
    report.check("the person is sent to a page", params.get("mode") == "url" and params["url"].startswith("https://"), params)
    flow.answer()
    _, again = flow.question()
    report.check("opening the page is not logging in", again["url"] == params["url"], flow.seen)
    Flow(server, "pretend_login", {"flow": parse_qs(urlparse(again["url"]).query)["flow"][0]})
    report.check("who logs in then is connected", flow.answer().text() == "Connected.", flow.seen)
    flow = Flow(server, "connect_account")
    page = flow.question()[1]["url"]
    Flow(server, "pretend_login", {"flow": parse_qs(urlparse(page).query)["flow"][0]})
    report.check("logging in is", flow.answer().text() == "Connected.", flow.seen)
    flow = Flow(server, "connect_account", capabilities={"elicitation": {}})
    report.check("a client without pages is told where to go", flow.seen["result"].get("isError"), flow.seen)


def main():
    report = Report()
    with StdioServer([sys.argv[1] + "/patterns"]) as server:
        for pattern in (wizard, confirm, pick, login):
            pattern(server, report)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
