# SPDX-License-Identifier: MIT
"""A FileCheck line under a prefix that no RUN line names checks nothing, and a prefix that no line uses neither."""
import re

import project

LINE = re.compile(r"(?://|#)\s*([A-Z][A-Z0-9_-]*?)(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))?(?:\{LITERAL\})?:")
OTHER = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "ALLOW_RETRIES", "END", "DEFINE", "REDEFINE", "NOTE"}


def check(tree):
    paths = tree.files(".mlir", ".test", under="tests/ir/")
    for path in paths:
        text = tree.read(path)
        runs = "\n".join(re.findall(r"RUN:(.*)", text))
        named = set()
        for options in re.findall(r"FileCheck\b([^|]*)", runs):
            prefixes = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", options)
            named.update(",".join(prefixes).split(",") if prefixes else ["CHECK"])
        used = {}
        for number, line in enumerate(text.split("\n"), 1):
            found = LINE.search(line)
            if found and found.group(1) not in OTHER:
                used.setdefault(found.group(1), number)
        for prefix in sorted(used.keys() - named):
            tree.report(path, used[prefix], f"no RUN line checks the prefix {prefix}")
        for prefix in sorted(named - used.keys()):
            tree.report(path, 1, f"a RUN line names the prefix {prefix}, which no line uses")
    return len(paths)


project.run(check)
