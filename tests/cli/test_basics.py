# SPDX-License-Identifier: MIT
"""Help, exit codes and errors of every command, where there is neither a GPU nor a package."""
import json
import os

import cli
from cli import CHECK_FAILED, ENVIRONMENT_LACKS, INPUT_WRONG, OK

COMMANDS = ["bench", "check", "compile", "doctor", "explain", "fmt", "golden", "lint", "list", "new", "run", "test", "tune", "verify"]


TWICE = """op twice(x: f32[N]) -> y: f32[N]
reference { y = x + x }
kernel long() when N > 1000 {
  grid(N)
  store(y[block(0)], 2 * load(x[block(0)]))
}
kernel short() {
  grid(N)
  store(y[block(0)], 2 * load(x[block(0)]))
}
test {
  N in [5, 63]
  case "by hand" { x = [1, 2]; expect y = [2, 4] }
  tolerance { f32: 0 }
}
bench none "a test"
"""


class Help(cli.CliTest):
    def test_every_command_has_help_with_examples(self):
        overview = self.expect(OK, "--help", out="Exit codes: 0 ok, 1 the input is wrong, 2 a check failed, 3 the environment lacks something")
        for command in COMMANDS:
            self.assertIn("\n  " + command, overview)
            self.expect(OK, command, "--help", out=["Examples:", "tilegymc " + command])

    def test_wrong_usage(self):
        self.expect(INPUT_WRONG, err="A subcommand is required")
        self.expect(INPUT_WRONG, "chekc", err="there is no command 'chekc'; did you mean 'check'?")
        self.expect(INPUT_WRONG, "check", "--frobnicate", err="--frobnicate")
        self.expect(OK, "--version", out="tilegymc ")


class Specs(cli.CliTest):
    def test_unknown_name(self):
        for command in [["check"], ["test"], ["run"], ["bench"], ["explain"]]:
            self.expect(INPUT_WRONG, *command, "sofmax", err=["no spec is called `sofmax`", "did you mean `softmax`?"])
        self.expect(INPUT_WRONG, "check", "no/such.tile", err="there is no file `no/such.tile`")
        self.expect(INPUT_WRONG, "check", err="there is no spec in specs", cwd=self.folder.name)

    def test_a_wrong_spec_is_shown_with_its_place(self):
        path = self.write("bad.tile", self.spec("softmax").replace("max(f32(x)", "maxx(f32(x)", 1))
        self.expect(INPUT_WRONG, "check", path, err=["bad.tile:", "error:", "maxx", "^"])
        found = json.loads(self.expect(INPUT_WRONG, "check", path, "--json"))
        first = found["diagnostics"][0]
        self.assertEqual(first["severity"], "error")
        line = self.read("bad.tile").split("\n")[first["line"] - 1]
        self.assertEqual(first["endLine"], first["line"])
        self.assertEqual(line[first["column"] - 1 : first["endColumn"] - 1], "maxx")  # what an editor underlines

    def test_list(self):
        self.expect(OK, "list", out=["softmax ", "Softmax over the last axis"])
        rows = {row["name"]: row for row in json.loads(self.expect(OK, "list", "--json"))}
        self.assertIn("softmax.tile", rows["softmax"]["path"])
        self.expect(OK, "list", "--builtins", out=["load(", "philox("])
        os.mkdir(self.path("more"))
        self.write("more/twice.tile", self.spec("softmax").replace("op softmax", "op twice"))
        self.expect(OK, "--spec-dir", self.path("more"), "list", out="twice")


class Check(cli.CliTest):
    def test_cases(self):
        out = self.expect(OK, "check", "softmax", "-k", "t=f16", "-k", "R=9 N=63", out=["passed  softmax, interpreter: R=9 N=63 T=f16", "1 passed, 0 failed, 0 skipped"])
        self.assertNotIn("T=bf16", out)
        self.assertNotIn("passed  ", self.expect(OK, "check", "-q", "softmax", "-k", "R=1 N=1 "))
        self.expect(OK, "check", "softmax", "--static", out="1 spec checked")
        self.expect(INPUT_WRONG, "check", "softmax", "-k", "nothing-like-it", err="no test case matches what -k or --case say")
        self.expect(INPUT_WRONG, "check", "softmax", "--kernel", "nosuch", err="--kernel: no op has a kernel 'nosuch'")

    def test_a_check_of_nothing_fails(self):
        path = self.write("twice.tile", TWICE)
        self.expect(CHECK_FAILED, "check", path, "--kernel", "long", out="0 passed, 0 failed, 3 skipped",
                    err="every case of twice was skipped, interpreter: the kernels asked for do not take this case")
        why = "no case of `test` runs `long`, so nothing of it was checked"
        self.expect(OK, "check", "-q", path, err=[why, "add a case that its guard takes"])
        self.expect(OK, "test", "-q", "--backend", "interpreter", path, err=why)
        self.assertEqual([d["message"] for d in json.loads(self.expect(OK, "check", path, "--json"))["diagnostics"]], [why])
        self.assertNotIn(why, cli.run("check", path, "-k", "N=5").stderr)

    def test_a_wrong_kernel_fails_with_its_numbers(self):
        wrong = self.spec("vector_add").replace("store(", "store(", 1)
        at = wrong.index("kernel ")
        wrong = wrong[:at] + wrong[at:].replace(" + ", " - ", 1)
        path = self.write("vector_add.tile", wrong)
        self.expect(CHECK_FAILED, "check", path, "-k", "T=f32", out=["failed ", "against reference", "elements differ", "first", "worst"])
        found = json.loads(self.expect(CHECK_FAILED, "check", path, "-k", "T=f32", "--json"))
        self.assertGreater(found["failed"], 0)
        self.assertIn("failures", next(case for case in found["cases"] if case["status"] == "failed"))


class Fmt(cli.CliTest):
    def test_in_place_check_and_stdin(self):
        untidy = self.spec("vector_add").replace("  ", "      ", 1)
        path = self.write("untidy.tile", untidy)
        self.expect(CHECK_FAILED, "fmt", "--check", path, out="untidy.tile")
        self.assertEqual(self.read("untidy.tile"), untidy)
        self.expect(OK, "fmt", path)
        tidy = self.read("untidy.tile")
        self.assertNotEqual(tidy, untidy)
        self.assertEqual(self.expect(OK, "fmt", "--check", path), "")
        self.assertEqual(self.expect(OK, "fmt", "-", stdin=untidy), tidy)

    def test_what_does_not_parse_stays_as_it_is(self):
        path = self.write("broken.tile", "op broken(\n")
        self.expect(INPUT_WRONG, "fmt", path, err="broken.tile:")
        self.assertEqual(self.read("broken.tile"), "op broken(\n")
        self.expect(INPUT_WRONG, "fmt", "-", stdin="op broken(\n", err="<stdin>:")


class Doctor(cli.CliTest):
    def test_findings(self):
        self.expect(OK, "doctor", out=["driver     missing", "gpu        missing", "for anything on a GPU", "specs      found"])
        self.assertFalse(json.loads(self.expect(OK, "doctor", "--json"))["gpu"]["found"])
        self.expect(ENVIRONMENT_LACKS, "doctor", "--require", "gpu", err="gpu is required and missing")
        self.expect(INPUT_WRONG, "doctor", "--require", "warp-drive", err="--require: found 'warp-drive', expected one of llvm")
        self.expect(OK, "doctor", "--require", "gpu,driver", driver=cli.FAKE_DRIVER, out="Fake GPU, sm_90")


class Run(cli.CliTest):
    def test_in_the_interpreter(self):
        self.expect(OK, "run", "softmax", "--shape", "4,8", "--dtype", "bf16", out=["on interpreter (no CUDA driver", "y: bf16[4, 8] = "])
        self.expect(OK, "run", "rms_norm", "--shape", "N=8", "--shape", "R=2,3", "--with", "rstd", "eps=1e-3", "--backend", "interpreter",
                    "--out", self.path("out"), out=["x=f32[2, 3, 8] weight=f32[8]", "rstd: f32[2, 3]"])
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["rstd.npy", "y.npy"])
        again = json.loads(self.expect(OK, "run", "softmax", "x=" + self.path("out/y.npy"), "--json"))
        self.assertEqual(again["outputs"]["y"], {"dtype": "f32", "shape": [2, 3, 8]})

    def test_wrong_calls(self):
        wrong = [(["softmax"], "the shape of 'x' is not known: give --shape x=..."),
                 (["softmax", "--shape", "4,x"], "--shape: found '4,x', expected extents such as 64,1000"),
                 (["softmax", "--shape", "q=4"], "--shape: 'q' is no tensor or dim of softmax; it has x"),
                 (["softmax", "--shape", "y=4,4"], "'y' is an output; its shape follows from the inputs"),
                 (["softmax", "--shape", "N=4,4"], "--shape N: found 2 extents, expected one, as N is one dim"),
                 (["softmax", "--shape", "4,4", "--dtype", "i8"], "--dtype: found 'i8', expected one of T=f32"),
                 (["softmax", "--shape", "4,4", "--with", "y"], "--with: 'y' is no optional tensor of softmax"),
                 (["softmax", "no_such/x.npy"], "no_such/x.npy"),
                 (["softmax", "z=1"], "'z' is no input of softmax; it has x"),
                 (["softmax", "x=1"], "x: found '1', expected the name of a .npy file"),
                 (["softmax", "what"], "found 'what', expected NAME=VALUE, NAME=FILE.npy or NAME.npy"),
                 (["rms_norm", "--shape", "4,4", "eps=tiny"], "eps: found 'tiny', expected a value of f32"),
                 (["rms_norm", "--shape", "4,4", "--shape", "weight=5"], "weight"),
                 (["softmax", "--shape", "4,4", "--backend", "tpu"], "--backend")]
        for arguments, text in wrong:
            self.expect(INPUT_WRONG, "run", *arguments, err=text)
        self.expect(ENVIRONMENT_LACKS, "run", "softmax", "--shape", "4,4", "--backend", "gpu", err="no CUDA driver")


class WithoutGpu(cli.CliTest):
    def test_skips_are_said_with_their_reason(self):
        out = self.expect(OK, "test", "softmax", "-k", "R=9 N=63 T=f32", out=["passed  softmax, interpreter", "1 passed, 0 failed, 1 skipped"], err="nothing ran on a GPU: no CUDA driver")
        self.assertIn("skipped softmax, gpu: R=9 N=63 T=f32 (no CUDA driver", out)
        self.expect(ENVIRONMENT_LACKS, "test", "softmax", "-k", "R=9 N=63 T=f32", "--backend", "gpu")
        case = json.loads(self.expect(OK, "test", "softmax", "-k", "R=9 N=63 T=f32", "--json"))["cases"][1]
        self.assertEqual((case["backend"], case["status"]), ("gpu", "skipped"))
        self.assertIn("no CUDA driver", case["reason"])
        self.expect(ENVIRONMENT_LACKS, "bench", "softmax", err="bench times on a GPU: no CUDA driver")

    def test_bad_packages_are_refused_everywhere(self):
        for text, why in [("", "it is too short"), ("x" * 4096, "it does not begin as one")]:
            path = self.write("bad.tgk", text)
            for command in [["test", "softmax"], ["run", "softmax", "--shape", "4,4"], ["bench", "softmax"], ["explain", "softmax", "--shape", "4,4"]]:
                self.expect(INPUT_WRONG, *command, "--package", path, err=["bad.tgk' is not a usable kernel package", why])
        self.expect(INPUT_WRONG, "test", "softmax", "--package", self.path("none.tgk"), err="cannot read the package")

    def test_what_needs_the_compiler_says_so(self):
        if cli.has_compiler():
            self.skipTest("this tilegymc has the compiler")
        self.expect(ENVIRONMENT_LACKS, "compile", "softmax", err="built without LLVM, so it cannot compile")
        self.expect(ENVIRONMENT_LACKS, "explain", "softmax", "--shape", "4,4", err="give a package with --package")
        self.expect(ENVIRONMENT_LACKS, "golden", err="built without LLVM, and goldens are what the compiler makes")

    def test_ci_approves_no_goldens(self):
        self.expect(INPUT_WRONG, "golden", "--update", environment={"CI": "true"}, err="golden --update is refused where CI is set")


cli.main()
