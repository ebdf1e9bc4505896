# SPDX-License-Identifier: MIT
"""Assembly is written in one place: the table of target instructions and the pass that lowers it. Elsewhere an instruction is an op, which
the simulator can run, too.
"""
import re

import project

TABLE = ("compiler/targets/nvidia/ptx/", "compiler/targets/nvidia/ToPtx.cpp")
RECORD = "compiler/targets/nvidia/Passes.td"  # its example shows what to-ptx leaves
FORMS = re.compile(r"\b(InlineAsmOp|NVVM::InlinePtxOp|InlineAsm::get|inline_asm|__asm__|asm\s*(volatile\s*)?\(\s*\")")


def check(tree):
    looked_at = 0
    for path in tree.files(".cpp", ".h", ".td", ".inc", ".cu"):
        if path.startswith("tests/") or path.startswith(TABLE) or path == RECORD:
            continue
        looked_at += 1
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            found = FORMS.search(line)
            if found:
                tree.report(path, number, f"writes assembly ({found.group(0).strip()}): make it an op of the ptx dialect")
    return looked_at


project.run(check)
