# SPDX-License-Identifier: MIT
"""What is left to do says why: a mark for later work names its reason in brackets, and other such marks are not used."""
import re

import project

LATER = re.compile(r"\bTO" r"DO\b(?!\([^)]{8,}\):)")
OTHER = re.compile(r"\b(FIX" r"ME|HA" r"CK)\b")


def check(tree):
    looked_at = 0
    for path in tree.files():
        text = tree.read(path)
        if project.comment_mark(path, text) is None or path.startswith("tests/lint/"):
            continue
        looked_at += 1
        for number, line in enumerate(text.split("\n"), 1):
            if LATER.search(line):
                tree.report(path, number, "to be done later, for what reason? write it in brackets after the word, then a colon")
            if OTHER.search(line):
                tree.report(path, number, "mend it, or say what is left and why")
    return looked_at


project.run(check)
