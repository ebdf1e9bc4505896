# SPDX-License-Identifier: MIT
"""What the documents name exists: a path of the project in backquotes, and the README's spec, which is the one that the
package test compiles. The reference's list of what no target compiles yet is the compiler's. In the tables of field reports each number has one row of three cells, and
a title in quotes stands in one of the files that its row names.
"""
import re

import project

TOP = r"(?:compiler|runtime|specs|tests|tools|docs|kernels)/"


def check_reports(tree, reports):
    rows = []
    for number, line in enumerate(tree.read(reports).split("\n"), 1):
        if not line.startswith("| F"):
            continue
        if not re.fullmatch(r"\| F\d\d \|( [^|]+ \|){2}", line):
            tree.report(reports, number, "not a number, a kind of fault and tests, each between bars")
        if (row := line[2:5]) in rows:
            tree.report(reports, number, f"{row} has a row already")
        rows.append(row)
        texts = [tree.read(name) for name in re.findall(r"`(" + TOP + r"[\w./-]*)`", line) if name in tree.paths]
        for title in re.findall(r'"([^"]+)"', line):
            if not any(title in text for text in texts):
                tree.report(reports, number, f"no file of the row has \"{title}\"")
    for row in (f"F{i:02}" for i in range(1, int(max(rows, default="F00")[1:]) + 1)):
        if row not in rows:
            tree.report(reports, 1, f"{row} has no row")


def check(tree):
    paths = [path for path in tree.files(".md") if not path.startswith("tests/")]
    for path in paths:
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            for name in re.findall(r"`(" + TOP + r"[\w./-]*)`", line):
                if not re.search(r"\b(OP|NAME)\b", name) and not any(known == name or known.startswith(name.rstrip("/") + "/") for known in tree.paths):
                    tree.report(path, number, f"names {name}, which does not exist")
    if "docs/field-reports.md" in tree.paths:
        check_reports(tree, "docs/field-reports.md")
    if "README.md" in paths:
        spec = tree.read("tests/package/client/axpy.tile").split("\n", 1)[1].strip()
        if spec not in tree.read("README.md"):
            tree.report("README.md", 1, "its spec is not the one of tests/package/client/axpy.tile")
    refusing = "compiler/lowering/Unsupported.cpp"
    if refusing in tree.paths:
        refused = [name for name in re.findall(r'return "`?([\w ]+)`?";', tree.read(refusing)) if name.strip()]
        table = tree.read("docs/language.md").split("## What no target compiles yet")[-1]
        named = set(re.findall(r"^\| (.*?) \|", table, re.M)) - {"construct", "---", "plans"}
        known = {name.strip("`") for row in named for name in row.split(", ")}
        for name in sorted(set(refused) ^ known):
            tree.report("docs/language.md", 1, f"`{name}` stands in {refusing} or in the table of what no target compiles yet, but not in both")
    return len(paths)


project.run(check)
