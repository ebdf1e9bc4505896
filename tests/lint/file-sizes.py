# SPDX-License-Identifier: MIT
"""Hand-written files stay small: 600 lines at most, 400 for a pass (past that its analysis becomes a file of its own)."""
import project

CAP, PASS_CAP = 600, 400


def check(tree):
    paths = tree.files(".cpp", ".h", ".td", ".py", ".tile", ".cmake", ".mlir")
    for path in paths:
        is_pass = path.startswith(("compiler/transforms/", "compiler/targets/")) and path.endswith(".cpp")
        cap = PASS_CAP if is_pass else CAP
        lines = tree.read(path).count("\n")
        if lines > cap:
            tree.report(path, cap, f"{lines} lines, at most {cap} are allowed; split it by family or take out its analysis")
    return len(paths)


project.run(check)
