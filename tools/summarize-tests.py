#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the JUnit file that ctest wrote: lists skipped tests by reason, then failures, then the count as the last line.

A program says why it skips on a line with [SKIP] in it; tests that skip for the same reason are listed together.
"""
import collections
import re
import sys
import xml.etree.ElementTree as ElementTree


def skip_reason(case):
    output = case.findtext("system-out") or ""
    found = re.search(r"\[SKIP\]\s*(.+)", output)
    if found:
        return found.group(1).strip()
    skipped = case.find("skipped")
    return (skipped.get("message") if skipped is not None else None) or "no reason given"


def main():
    if len(sys.argv) != 2:
        print("usage: summarize-tests.py RESULTS.xml", file=sys.stderr)
        return 2
    try:
        cases = list(ElementTree.parse(sys.argv[1]).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError) as error:
        print(f"no test results to read: {error}")
        print("0 passed, 1 failed")
        return 1
    status = collections.Counter()
    skipped = collections.defaultdict(list)
    failed = []
    for case in cases:
        kind = case.get("status")
        if kind == "run":
            status["passed"] += 1
        elif kind in ("notrun", "disabled"):
            # ctest also calls a test whose program is missing `notrun`; only a skip carries the [SKIP] code.
            message = case.find("skipped")
            text = message.get("message", "") if message is not None else ""
            if kind == "notrun" and not text.upper().startswith("SKIP"):
                status["failed"] += 1
                failed.append(case.get("name"))
            else:
                status["skipped"] += 1
                skipped[skip_reason(case)].append(case.get("name"))
        else:
            status["failed"] += 1
            failed.append(case.get("name"))
    for reason, names in sorted(skipped.items()):
        shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
        print(f"[SKIP] {reason}: {shown}")
    for name in failed:
        print(f"FAILED {name}")
    line = f"{status['passed']} passed, {status['failed']} failed"
    if status["skipped"]:
        line += f", {status['skipped']} skipped"
    print(line)
    return 1 if status["failed"] or not status["passed"] else 0


sys.exit(main())
