# SPDX-License-Identifier: MIT
"""What the documents name exists: a path of the project in backquotes, and the README's spec, which is the one that the
package test compiles.
"""
import re

import project

TOP = r"(?:compiler|runtime|specs|tests|tools|docs|kernels)/"


def check(tree):
    paths = [path for path in tree.files(".md") if not path.startswith("tests/")]
    for path in paths:
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            for name in re.findall(r"`(" + TOP + r"[\w./-]*)`", line):
                if not re.search(r"\b(OP|NAME)\b", name) and not any(known == name or known.startswith(name.rstrip("/") + "/") for known in tree.paths):
                    tree.report(path, number, f"names {name}, which does not exist")
    if "README.md" in paths:
        spec = tree.read("tests/package/client/axpy.tile").split("\n", 1)[1].strip()
        if spec not in tree.read("README.md"):
            tree.report("README.md", 1, "its spec is not the one of tests/package/client/axpy.tile")
    return len(paths)


project.run(check)
