# SPDX-License-Identifier: MIT
"""docs/adding-an-op.md, followed to the letter in a copy of the specs without its two ops: what it shows is written to the files it names, every
command is run, and the specs that come out are the library's."""
import os
import re
import shlex
import shutil

import cli
from cli import CHECK_FAILED, ENVIRONMENT_LACKS, OK

OPS = ["gelu", "layer_norm_backward"]


def fences(page):
    """(what stands behind the three backquotes, the text) of each block."""
    return re.findall(r"^```(.+)\n((?:.*\n)*?)```$", page, re.M)


class AddingAnOp(cli.CliTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(os.path.join(cli.SOURCE, "specs"), self.path("specs"), ignore=shutil.ignore_patterns(*(op + ".tile" for op in OPS)))
        os.makedirs(self.path("tests/golden"))
        with open(os.path.join(cli.SOURCE, "docs", "adding-an-op.md"), encoding="utf-8") as file:
            self.page = file.read()

    def command(self, line, kind):
        words = shlex.split(line)
        self.assertEqual(words[0], "tilegymc")
        done = cli.run(*words[1:], cwd=self.folder.name, timeout=1500)
        said = f"{line}\n{done.stdout}\n{done.stderr}"
        if kind.startswith("console fails: "):
            self.assertEqual(done.returncode, CHECK_FAILED, said)
            self.assertIn("; failed: " + kind.split(": ")[1] + "; ", done.stdout.splitlines()[-1], said)
        elif kind == "console gpu":  # there is none here; what else there is passes
            self.assertIn(done.returncode, (OK, ENVIRONMENT_LACKS), said)
            self.assertIn("no CUDA driver", done.stdout + done.stderr, said)
        else:
            self.assertEqual(done.returncode, OK, said)
        return done.stdout

    def test_followed_to_the_letter(self):
        compiler = cli.has_compiler()
        files, transcript = {}, []
        for kind, text in fences(self.page):
            if kind.startswith("tile "):
                files.setdefault(kind.split()[1], []).append(text)
                continue
            self.assertRegex(kind, "^console(| gpu| fails: .*)$")
            for name, parts in files.items():
                self.write(name, "\n".join(parts))
            for line in text.splitlines():
                self.assertTrue(line.startswith("$ "), line)
                transcript.append(line[2:])
                if compiler or not re.search(r"golden|verify|explain", line):
                    self.command(line[2:], kind)
        for op in OPS:
            self.assertIn("tilegymc new " + op, " ".join(transcript))
            self.expect(OK, "fmt", op, cwd=self.folder.name)
            library = self.spec(op).split("\n", 2)[2]  # behind the licence
            self.assertEqual(self.read(f"specs/{op}.tile"), library, f"docs/adding-an-op.md shows another specs/{op}.tile than the library has")
        if compiler:
            self.assertEqual(sorted({name.split(".")[0] for name in os.listdir(self.path("tests/golden"))}), OPS)


cli.main()
