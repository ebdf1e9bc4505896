# SPDX-License-Identifier: MIT
"""C++ is formatted as .clang-format says, by clang-format 22 (other versions disagree with it); TableGen files are not."""
import shutil
import subprocess
import sys

import project


def check(tree):
    tool = shutil.which("clang-format-22")
    if tool is None:
        print("[SKIP] no clang-format-22")
        sys.exit(project.SKIP)
    paths = tree.files(".cpp", ".h")
    for path in paths:
        text = tree.read(path)
        done = subprocess.run([tool, f"--assume-filename={tree.full(path)}"], input=text, capture_output=True, text=True,
                              check=True)
        if done.stdout != text:
            pairs = zip(text.split("\n"), done.stdout.split("\n"))
            line = next((number for number, (old, new) in enumerate(pairs, 1) if old != new), 1)
            tree.report(path, line, f"not formatted; run: clang-format-22 -i {path}")
    return len(paths)


project.run(check)
