# SPDX-License-Identifier: MIT
"""Every target instruction says what it does and shows how it is written, and a test of the dialect writes it."""
import re

import project

FOLDER = "compiler/targets/nvidia/ptx/"
RECORD = re.compile(r'^def\s+Ptx_\w+\s*:\s*Ptx_\w*Op\w*<\s*"(\w+)"', re.MULTILINE)
WRITTEN = re.compile(r"^[^/\n]*\bptx\.(\w+)", re.MULTILINE)  # outside comments


def check(tree):
    written = set()
    for path in tree.files(".mlir", under=FOLDER.replace("compiler/", "tests/ir/", 1).rsplit("/", 2)[0] + "/"):
        written.update(WRITTEN.findall(tree.read(path)))
    paths = tree.files(".td", under=FOLDER)
    for path in paths:
        text = tree.read(path)
        records = list(RECORD.finditer(text))
        for index, record in enumerate(records):
            line = text.count("\n", 0, record.start()) + 1
            name = record.group(1)
            body = text[record.start():records[index + 1].start() if index + 1 < len(records) else len(text)]
            if "let summary" not in body or "Example" not in body or f"ptx.{name}" not in body:
                tree.report(path, line, f"instruction {name}: expected a summary, and a description with an example that writes it")
            if name not in written:
                tree.report(path, line, f"instruction {name} is written by no test under tests/ir/targets/nvidia")
    return len(paths)


project.run(check)
