# SPDX-License-Identifier: MIT
"""Nothing names a package registry's host, another site's address, or a folder of the machine it was written on."""
import re

import project

ADDRESS = re.compile(r"https?://(?!(?:localhost|127\.0\.0\.1)\b)", re.IGNORECASE)
HOST = re.compile(r"\b(?:deb|security|files|registry|proxy|mirror|mirrors|index|packages)\.[a-z0-9-]+\.(?:org|com|net|io)\b|\bpypi\.\w",
                  re.IGNORECASE)
FOLDER = re.compile(r"(?<![\w.}])/(?:work|root|home|tmp|farm)/")


def check(tree):
    paths = [path for path in tree.files() if "\0" not in tree.read(path)]
    for path in paths:
        for number, line in enumerate(tree.read(path).split("\n"), 1):
            if ADDRESS.search(line) or HOST.search(line):
                tree.report(path, number, "names an address or a registry's host; name the package instead")
            if FOLDER.search(line):
                tree.report(path, number, "names a folder of one machine; use a relative path or a temporary folder")
    return len(paths)


project.run(check)
