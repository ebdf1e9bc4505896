# SPDX-License-Identifier: MIT
"""A file opens with its licence tag, and says on the next line what it is for (CMakeLists.txt files need only the tag)."""
import os

import project

TAG = "SPDX-License-Identifier: MIT"


def check(tree):
    looked_at = 0
    for path in tree.files():
        text = tree.read(path)
        mark = project.comment_mark(path, text)
        is_data = path.startswith("tests/") and path.endswith((".tile", ".mlir"))
        if mark is None or is_data:
            continue
        looked_at += 1
        lines = text.split("\n")
        first = 1 if text.startswith("#!") else 0
        # A header for C programs keeps to C's comments: one, which opens with the tag.
        if lines[first:first + 1] not in ([f"{mark} {TAG}"], [f"/* {TAG}"]):
            tree.report(path, first + 1, f"expected '{mark} {TAG}'")
        elif os.path.basename(path) != "CMakeLists.txt":
            says = next((line for line in lines[first + 1:first + 3] if line), "")  # `tilegymc fmt` parts them
            if not says.startswith((mark + " ", mark + mark[0], " * ", '"""')):
                tree.report(path, first + 2, "expected a comment that says what the file is for")
    return looked_at


project.run(check)
