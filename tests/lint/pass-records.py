# SPDX-License-Identifier: MIT
"""Every pass has one name in three spellings and is tested: a record in Passes.td, FoldMasks.cpp beside it, and
fold-masks.mlir in the mirrored folder of tests/ir; its record says what it does and shows it in an example.
"""
import os
import re

import project

RECORD = re.compile(r'^def\s+(\w+)\s*:\s*Pass<\s*"([\w-]+)"', re.MULTILINE)


def spelled_with_hyphens(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def check(tree):
    paths = [path for path in tree.files(".td", under="compiler/") if os.path.basename(path).endswith("Passes.td")]
    for path in paths:
        text = tree.read(path)
        folder = os.path.dirname(path)
        tests = folder.replace("compiler/", "tests/ir/", 1)
        records = list(RECORD.finditer(text))
        for index, record in enumerate(records):
            line = text.count("\n", 0, record.start()) + 1
            name = record.group(1).removesuffix("Pass")
            hyphened = spelled_with_hyphens(name)
            body = text[record.start():records[index + 1].start() if index + 1 < len(records) else len(text)]
            if not record.group(2).endswith(hyphened):
                tree.report(path, line, f"pass {name} has the flag {record.group(2)}; expected one that ends in {hyphened}")
            if not [source for source in tree.files(f"/{name}.cpp", under=folder + "/")]:
                tree.report(path, line, f"pass {name} has no {folder}/{name}.cpp")
            if not [case for case in tree.files(f"/{hyphened}.mlir", under=tests + "/")]:
                tree.report(path, line, f"pass {name} has no test {tests}/{hyphened}.mlir")
            if "description" not in body or "==>" not in body:
                tree.report(path, line, f"pass {name}: expected a description with an example, `before ==> after`")
    return len(paths)


project.run(check)
