# SPDX-License-Identifier: MIT
"""C++ is formatted as .clang-format says, by clang-format 22 (other versions disagree with it); TableGen files are not."""
import re
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
    done = subprocess.run([tool, "--dry-run", "--ferror-limit=1"] + paths, cwd=tree.root, capture_output=True, text=True)
    for path, line in re.findall(r"^(\S+?):(\d+):\d+: (?:warning|error): ", done.stderr, re.MULTILINE):
        tree.report(path, line, f"not formatted; run: clang-format-22 -i {path}")
    if done.returncode != 0:
        tree.report(".clang-format", 1, done.stderr)
    return len(paths)


project.run(check)
