# SPDX-License-Identifier: MIT
"""Every spec holds at least one expected value written out, since spec and oracle can be wrong together."""
import re

import project


def check(tree):
    paths = [path for path in tree.files(".tile", under="specs/") if not path.startswith("specs/lib/")]
    for path in paths:
        if not re.search(r"^[^#]*\bexpect\s+\w+\s*=", tree.read(path), re.MULTILINE):
            tree.report(path, 1, "no test case has an `expect` with literal values")
    return len(paths)


project.run(check)
