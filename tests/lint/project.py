# SPDX-License-Identifier: MIT
"""What the lints share: the project's files, what language each is in, and how a finding is reported.

A lint is a script that takes the source folder, prints `FILE:LINE: finding` for each one and fails if there is any.
"""
import os
import subprocess
import sys

SKIP = 77  # the exit code that ctest counts as skipped
WRITTEN = "tests/golden/"  # by `tilegymc golden`: reviewed as what the compiler makes, not as sources
HASH_COMMENTS = (".py", ".cmake", ".tile", ".sh")


class Project:
    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.findings = 0
        self.paths = sorted(path for path in self._list() if not path.startswith(WRITTEN) or path == WRITTEN + "CMakeLists.txt")

    def _list(self):
        """Tracked and new files that git does not ignore; without git, all but build and hidden cache folders."""
        git = ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(git, capture_output=True, text=True) if os.path.exists(self.root + "/.git") else None
        if listed and listed.returncode == 0:
            return [path for path in listed.stdout.split("\0") if path and os.path.isfile(self.full(path))]
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [name for name in folders if not name.startswith((".git", ".cache", "build", "__pycache__"))]
            found += [os.path.relpath(os.path.join(folder, name), self.root) for name in names]
        return found

    def full(self, path):
        return os.path.join(self.root, path)

    def read(self, path):
        with open(self.full(path), encoding="utf-8", errors="replace") as file:
            return file.read()

    def files(self, *suffixes, under=""):
        """Paths that end in one of the suffixes (all paths without any), in a folder if one is named."""
        return [path for path in self.paths if path.startswith(under) and (not suffixes or path.endswith(suffixes))]

    def report(self, path, line, text):
        self.findings += 1
        print(f"{path}:{line}: {text}")

    def finish(self, looked_at):
        """Ends the lint. One that looked at nothing has failed: its folder was renamed, or it was run elsewhere."""
        if not looked_at:
            print("found no file to look at")
            return 1
        print(f"{looked_at} files, {self.findings} findings")
        return 1 if self.findings else 0


def comment_mark(path, text):
    """How a comment starts in this file, or None where the file is of no kind that carries comments."""
    name = os.path.basename(path)
    if path.endswith((".cpp", ".h", ".td", ".inc", ".mlir", ".cu")):
        return "//"
    if path.endswith(HASH_COMMENTS) or name == "CMakeLists.txt" or text.startswith("#!"):
        return "#"
    return None


def run(check):
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        print(f"usage: {os.path.basename(sys.argv[0])} SOURCE_FOLDER", file=sys.stderr)
        sys.exit(2)
    project = Project(sys.argv[1])
    sys.exit(project.finish(check(project)))
