# SPDX-License-Identifier: MIT
"""No two sources share a name, so that a name finds one file; C++ names are UpperCamel; none is after an issue number."""
import collections
import os
import re

import project

SHARED = {"main.cpp", "Passes.h", "Passes.td"}  # one for each program; one for each folder of passes


def check(tree):
    paths = tree.files(".cpp", ".h", ".td")
    places = collections.defaultdict(list)
    for path in paths:
        name = os.path.basename(path)
        places[name].append(path)
        is_public = path.startswith("runtime/include/")  # its names are C-like, as users include them
        if name not in SHARED and not is_public and not re.fullmatch(r"[A-Z][A-Za-z0-9]*\.(cpp|h|td)", name):
            tree.report(path, 1, "expected an UpperCamel name")
        if re.search(r"(?i)issue-?\d", name):
            tree.report(path, 1, "named after an issue; name it after what it holds")
    for name, where in places.items():
        if len(where) > 1 and name not in SHARED:
            tree.report(where[1], 1, f"its name is taken by {where[0]}")
    return len(paths)


project.run(check)
