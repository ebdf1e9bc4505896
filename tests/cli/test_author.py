# SPDX-License-Identifier: MIT
"""An author's commands: `new`, `lint` and `verify`. Every section that is dropped and every step that is left undone is named."""
import json
import os

import cli
from cli import CHECK_FAILED, ENVIRONMENT_LACKS, INPUT_WRONG, OK

KINDS = ["elementwise", "matmul", "reduction", "softmax"]
SCALED = """## x times a factor, rounded once.
op scaled(x: T[N], factor: f32 = 2) -> y: T[N]
  where T: f32 | bf16

reference {
  y = f32(x) * factor
}

kernel flat(BN) {
  grid(cdiv(N, BN))
  let i = block(0)
  store(y.tile(BN)[i], f32(load(x.tile(BN)[i])) * factor)
}
tune flat { BN in [256]; warps in [2] }

test {
  N in [0, 1, 300]; T in all
  case "by hand" { N = 2; x = [1, -2]; expect y = [2, -4] }
  tolerance { f32: 0; bf16: 0 }
}
bench {
  N = 4096; T in [f32]
  bytes = 2 * N * sizeof(T)
}
"""


def section(text, word):
    """The text without its section of this name."""
    lines, kept, inside = text.split("\n"), [], False
    for line in lines:
        if line and not line[0].isspace() and line[0] not in "}#":
            inside = line.split()[0] == word
        if not inside:
            kept.append(line)
    return "\n".join(kept)


class New(cli.CliTest):
    def test_every_kind_passes_as_it_stands(self):
        for kind in KINDS:
            self.expect(OK, "new", "my_" + kind, "--like", kind, cwd=self.folder.name,
                              out=[f"wrote specs/my_{kind}.tile", f"then: tilegymc verify my_{kind}"])
            text = self.read(f"specs/my_{kind}.tile")
            self.assertNotIn("SPDX", text)
            self.assertNotIn("new_op", text)
            self.assertIn("tilegymc verify my_" + kind, text)
            for command in [["fmt", "--check"], ["lint"], ["check", "-q"]]:
                self.expect(OK, *command, "my_" + kind, cwd=self.folder.name)

    def test_wrong_calls(self):
        run = lambda code, *arguments, err: self.expect(code, "new", *arguments, err=err, cwd=self.folder.name)
        run(INPUT_WRONG, "a-b", err="new: found 'a-b', expected a name of letters, digits and _")
        run(INPUT_WRONG, "kernel", err="new: 'kernel' is a word of the language")
        run(INPUT_WRONG, "mine", "--like", "sofmax", err="--like: found 'sofmax', expected one of elementwise, matmul, reduction, softmax; did you mean 'softmax'?")
        self.expect(OK, "new", "mine", cwd=self.folder.name)
        run(INPUT_WRONG, "mine", err="'specs/mine.tile' is there already; --force writes over it")
        self.expect(OK, "new", "mine", "--force", cwd=self.folder.name)
        self.expect(OK, "new", "mine", "-o", "other.tile", cwd=self.folder.name, out="then: tilegymc verify other.tile")


class Lint(cli.CliTest):
    def lint(self, text, *findings, arguments=()):
        path = self.write("scaled.tile", text)
        self.expect(CHECK_FAILED if findings else OK, "lint", path, *arguments, err=findings)

    def test_the_library_is_clean(self):
        self.expect(OK, "lint", out="0 findings in")

    def test_unused_names(self):
        self.lint(SCALED)
        self.lint(SCALED.replace("factor: f32 = 2", "factor: f32 = 2, shift: f32 = 0"), "neither the reference nor a kernel reads `shift` [unused-name]")
        self.lint(SCALED.replace("  let i", "  let j = 1\n  let i"), "nothing reads `j` [unused-name]", "call it `_j` if it has to stand there")
        self.lint(SCALED.replace("  let i", "  let _j = 1\n  let i"))
        self.lint(SCALED.replace("flat(BN)", "flat(BN, BM)").replace("{ BN in", "{ BM in [2]; BN in"), "kernel `flat` never reads its parameter `BM` [unused-name]")
        self.lint(SCALED.replace("kernel flat", "fn half(a) { a / 2 }\n\nkernel flat"), "nothing calls `half` [unused-name]")
        self.lint(SCALED.replace("kernel flat", "fn first(a, b) { a }\n\nkernel flat").replace("* factor)", "* first(factor, 1))"), "`first` never reads its parameter `b` [unused-name]")

    def test_unread_knobs(self):
        knobs = lambda text: SCALED.replace("warps in [2]", "warps in [2]; " + text)
        self.lint(knobs("stages = 2; schedule = pipelined; split_k = 1"), "nothing reads `stages`: `flat` has no product, for which alone it counts [unread-knob]",
                  "nothing reads `schedule`", "nothing reads `split_k`", "points that differ in it alone are the same code")
        self.lint(knobs("occupancy = 2"), "nothing reads `occupancy`: it counts under `persistent` alone [unread-knob]")
        self.lint(knobs("arch sm_90a { vectors = 2 }"), "nothing reads `vectors`: it counts under `hold = shared` alone [unread-knob]")
        self.lint(knobs("persistent = true; arch sm_90a { occupancy = 2 }"))
        self.lint(knobs("persistent = true; stages = 2; arch sm_90a { hold = shared }"), "nothing reads `stages`")
        self.lint(knobs("arch sm_90a { persistent = true; stages = 2; hold = shared }"))
        product = SCALED.replace("* factor)\n}", "* factor)\n  let _sum = more()\n}").replace("kernel flat", "fn more() { mma(zeros(f32, [16, 8]), zeros(f32, [8, 8]), zeros(f32, [16, 8])) }\n\nkernel flat")
        self.assertNotEqual(product, SCALED)
        self.lint(product.replace("warps in [2]", "warps in [2]; stages = 2"))

    def test_docs_and_literal_cases(self):
        self.lint(SCALED.replace("## x times a factor, rounded once.\n", ""), "op `scaled` is not documented [missing-doc]")
        two = SCALED.replace("kernel flat(BN)", "kernel one(BN) when N <= 256 {\n  grid(1)\n  store(y.tile(BN)[0], f32(load(x.tile(BN)[0])) * factor)\n}\ntune one { BN in [256] }\n\nkernel flat(BN)")
        self.lint(two, "kernel `one` is not documented, and it is one of 2 [missing-doc]", "kernel `flat` is not documented")
        more = SCALED.replace("-> y: T[N]", "-> (y: T[N], n: i32[1])").replace("f32(x) * factor\n", "f32(x) * factor\n  n[0] = i32(N)\n").replace("  let i", "  store(n[0], i32(N))\n  let i").replace("flat(BN) {\n  grid(cdiv(N, BN))", "flat(BN) {\n  grid(1)")
        self.lint(more, "no case expects literal values of `n` [no-literal-case]", "add `expect n = ...`, worked out by hand")

    def test_variants_are_counted(self):
        if not cli.has_compiler():
            self.skipTest("this tilegymc was built without LLVM")
        many = SCALED.replace("factor: f32 = 2", "factor: f32 = 2, const a: i32, const b: i32").replace("T: f32 | bf16", "T: f32 | bf16, a: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10, b: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8").replace("N in [0, 1, 300]; T in all", "N in [300]; T in all; a = 1; b = 1").replace("N = 4096;", "N = 4096; a = 1; b = 1;").replace("* factor", "* factor * f32(a * b)")
        self.lint(many, "op `scaled` has 320 variants for sm_80, more than 300 [too-many-variants]")
        self.lint("# lint: allow too-many-variants: callers need each of them\n" + many)

    def test_tolerances_are_held_to_what_is_seen(self):
        loose = SCALED.replace("bf16: 0 }", "bf16: 0.2 }")
        self.lint(loose)
        self.lint(loose, "the tolerance of bf16 is 0.2, but the largest error seen needs 0 [loose-tolerance]", "at most 0.062 still finds mistakes", arguments=["--measure", "--arch", "sm_80"])
        self.lint("# lint: allow loose-tolerance: its callers take anything\n" + loose, arguments=["--measure", "--arch", "sm_80"])
        approximate = self.write("scaled.tile", loose.replace("  grid(", "  math approx\n  grid("))
        self.expect(OK, "lint", approximate, "--measure", err="note: the tolerances of scaled are not judged: its kernels say `math approx`, and only a GPU shows how far off that is")

    def test_allowances(self):
        self.lint("# lint: allow unused-nam: x\n" + SCALED, "there is no lint rule `unused-nam` [allowance]", "did you mean `unused-name`?")
        self.lint("# lint: allow unused-name:\n" + SCALED.replace("  let i", "  let j = 1\n  let i"), "`unused-name` is allowed without a reason [allowance]", "nothing reads `j`")
        self.lint("# lint: allow unused-name: it is so\n" + SCALED, "nothing here needs `unused-name` to be allowed [allowance]", "remove the line")

    def test_json_has_ranges_and_rules(self):
        path = self.write("scaled.tile", SCALED.replace("  let i", "  let j = 1\n  let i"))
        found = json.loads(self.expect(CHECK_FAILED, "lint", path, "--json"))
        self.assertEqual([(d["rule"], d["line"], d["column"], d["endColumn"]) for d in found], [("unused-name", 11, 7, 8)])
        self.assertEqual(json.loads(self.expect(OK, "lint", "softmax", "--json")), [])
        rules = self.expect(OK, "lint", "--rules")
        for rule in "unused-name", "unread-knob", "missing-doc", "no-literal-case", "loose-tolerance", "too-many-variants", "allowance":
            self.assertIn(rule, rules)
        path = self.write("untidy.tile", SCALED.replace("  grid(", "    grid("))
        found = json.loads(self.expect(CHECK_FAILED, "fmt", "--check", path, "--json"))
        self.assertEqual([(d["line"], d["message"], d["help"]) for d in found], [(10, "this is not the canonical format", f"run `tilegymc fmt {path}`")])


class VerifyTest(cli.CliTest):
    ONE = ["--arch", "sm_80", "-j", "2"]

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("specs"))

    def verify(self, code, text, *arguments, **options):
        """The list of one target, by name, for the text as specs/scaled.tile."""
        self.write("specs/scaled.tile", text)
        out = self.expect(code, "verify", "scaled", *self.ONE, "--json", *arguments, cwd=self.folder.name, **options)
        return {line["name"]: line for line in json.loads(out)[0]["lines"]}

    def undone(self, text, name, *texts, status="failed", code=CHECK_FAILED, arguments=(), **options):
        """The line of this name fails, and says so."""
        line = self.verify(code, text, *arguments, **options)[name]
        self.assertEqual(line["status"], status, line)
        said = "\n".join([line["text"], *line.get("details", []), line.get("command", "")])
        for one in texts:
            self.assertIn(one, said)

    def on_a_gpu(self, **environment):
        """Options of a run on the driver that the tests have."""
        return {"driver": cli.FAKE_DRIVER, "environment": {"TILEGYM_FAKE_TIMES": "scaled=50", **environment}}


class Verify(VerifyTest):
    def test_everything_done(self):
        lines = self.verify(OK, SCALED)
        for name in "complete", "formatted", "linted", "reference", "kernels":
            self.assertEqual(lines[name]["status"], "passed", lines[name])
        # What is left out says why.
        self.assertIn("the op is not the gradient of another", lines["gradient"]["text"])
        self.assertIn("no CUDA driver", lines["gpu"]["text"])
        self.assertIn("there is no folder tests/golden; `tilegymc golden scaled --dir tests/golden --update` makes it", lines["golden"]["text"])
        self.assertIn("no CUDA driver", lines["benchmark"]["text"])
        out = self.expect(OK, "verify", "scaled", *self.ONE, cwd=self.folder.name, out=["pass  complete", "skip  gpu", "skipped: gradient, gpu"])
        self.assertIn("scaled: ", out.splitlines()[-1])
        self.expect(ENVIRONMENT_LACKS, "verify", "scaled", *self.ONE, "--no-skips", cwd=self.folder.name)

    def test_each_line_has_a_test_of_the_step_undone(self):
        names = list(self.verify(OK, SCALED))
        self.assertEqual(len(names), 14)
        for name in names:
            self.assertTrue(hasattr(Undone, "test_" + name.split()[0]), f"no test leaves the step `{name}` undone")

    def test_parts_of_sections_that_are_missing_are_named(self):
        for text, said in [(SCALED.replace("expect y = [2, -4] ", ""), "expect"), (SCALED.replace("  tolerance { f32: 0; bf16: 0 }\n", ""), "tolerance"),
                           (SCALED.replace("; bf16: 0", ""), "bf16"), (SCALED.replace("  bytes = 2 * N * sizeof(T)\n", ""), "bytes")]:
            self.assertNotEqual(text, SCALED)
            self.write("specs/scaled.tile", text)
            self.expect(INPUT_WRONG, "verify", "scaled", *self.ONE, cwd=self.folder.name, out=["FAIL  complete", said])

    def test_a_command_that_crashes_is_a_line(self):
        if not cli.has_compiler():
            self.skipTest("this tilegymc was built without LLVM")
        for name, again in ("gpu", "tilegymc test scaled --backend gpu"), ("benchmark", "tilegymc bench scaled"):
            self.undone(SCALED, name, "it crashed: signal 6 (Aborted)", again, **self.on_a_gpu(TILEGYM_FAKE_CRASH="scaled"))


class Undone(VerifyTest):
    """A test a line of the list, of the line's name: the step is left undone, and the line says so."""

    def setUp(self):
        super().setUp()
        compiled = ["compile", "resources", "dispatch", "simulator", "gpu", "tolerance", "golden", "benchmark"]
        if self._testMethodName[5:] in compiled and not cli.has_compiler():
            self.skipTest("this tilegymc was built without LLVM")

    def test_complete(self):
        for word in "op", "reference", "kernel", "tune", "test", "bench":
            text = section(SCALED, word)
            self.assertNotEqual(text, SCALED)
            self.write("specs/scaled.tile", text)
            out = self.expect(INPUT_WRONG, "verify", "scaled", *self.ONE, cwd=self.folder.name, out="FAIL  complete")
            self.assertRegex(out, f"error: .*`{word}", word)
            self.assertIn("failed: complete", out.splitlines()[-1])

    def test_formatted(self):
        self.undone(SCALED.replace("  grid(", "    grid("), "formatted", "this is not the canonical format", "tilegymc fmt scaled")

    def test_linted(self):
        self.undone(SCALED.replace("  let i", "  let j = 1\n  let i"), "linted", "1 finding", "nothing reads `j` [unused-name]")

    def test_reference(self):
        self.undone(SCALED.replace("[2, -4]", "[2, -5]"), "reference", "2 of 2 cases failed", "reference against expected values", "got -4, want -5")

    def test_kernels(self):
        divides = SCALED.replace("BN)[i])) * factor)", "BN)[i])) / factor)")
        self.undone(divides, "kernels", "against reference", "elements differ", "tilegymc check scaled")
        out = self.expect(CHECK_FAILED, "verify", "scaled", *self.ONE, cwd=self.folder.name,
                          out=["FAIL  kernels", "more lines", "again: tilegymc check scaled -j 2", "skip  tolerance          cases fail, and errors that are wrong results say nothing of a tolerance"])
        self.assertIn("; failed: kernels", out.splitlines()[-1])
        idle = SCALED.replace("kernel flat(BN) {", "## Never.\nkernel never(BN) when N > 1000 {\n  grid(cdiv(N, BN))\n  let i = block(0)\n  store(y.tile(BN)[i], f32(load(x.tile(BN)[i])) * factor)\n}\ntune never { BN in [256] }\n\n## The others.\nkernel flat(BN) {")
        self.undone(idle, "kernels", "no case of `test` runs `never`, so nothing of it was checked")

    def test_gradient(self):
        self.write("specs/scaled.tile", SCALED)
        text = SCALED.replace("op scaled(x: T[N], factor: f32 = 2) -> y: T[N]\n  where T: f32 | bf16", "op scaled_backward(dy: T[N], factor: f32 = 2) -> dx: T[N]\n  where T: f32 | bf16\n  gradient of scaled(y -> dy; x -> dx)")
        text = text.replace("x = [1", "dy = [1").replace("expect y", "expect dx").replace("(x", "(dy").replace("y.tile(BN)[i],", "dx.tile(BN)[i],").replace("  y =", "  dx =")
        for change, status in [(text, "passed"), (text.replace("* factor", "* (factor + 1)").replace("[2, -4]", "[3, -6]"), "failed")]:
            self.write("specs/scaled_backward.tile", change)
            out = self.expect(OK if status == "passed" else CHECK_FAILED, "verify", "scaled_backward", *self.ONE, "--json", cwd=self.folder.name)
            line = next(line for line in json.loads(out)[0]["lines"] if line["name"] == "gradient")
            self.assertEqual(line["status"], status)
        self.assertIn("central differences", "\n".join(line["details"]))

    def test_compile(self):
        lines = self.verify(OK, SCALED)
        for name in "compile sm_80", "dispatch sm_80", "simulator sm_80", "tolerance":
            self.assertEqual(lines[name]["status"], "passed", lines[name])
        self.assertIn("4 variants, 2 of them fast", lines["compile sm_80"]["text"])
        self.assertRegex(lines["dispatch sm_80"]["text"], "each of [0-9]+ calls finds its variant")
        lines = self.verify(CHECK_FAILED, SCALED.replace("  let i", "  let _s = sort(load(x.tile(BN)[block(0)]))\n  let i"))
        self.assertEqual(lines["compile sm_80"]["status"], "failed")
        self.assertIn("cannot lower `sort` yet", "\n".join(lines["compile sm_80"]["details"]))
        for name in "resources sm_80", "dispatch sm_80", "simulator sm_80":
            self.assertEqual((lines[name]["status"], lines[name]["text"]), ("skipped", "it was not compiled for sm_80"))

    def test_resources(self):
        if not json.loads(cli.run("doctor", "--json").stdout)["ptxas"]["found"]:
            self.undone(SCALED, "resources sm_80", "there is no ptxas here, which counts them", status="skipped", code=OK)
            self.skipTest("there is no ptxas")
        self.assertRegex(self.verify(OK, SCALED)["resources sm_80"]["text"], "^at most [0-9]+ registers a thread and 0 bytes of shared memory a block, no spills$")
        many = SCALED.replace("BN in [256]; warps in [2]", "BN in [4096]; warps in [1]").replace("  store(", "  let t = f32(load(x.tile(BN)[i]))\n  let most = max(t)\n  store(").replace("f32(load(x.tile(BN)[i])) * factor)", "t * factor + 0 * most)")
        self.undone(many, "resources sm_80", "variants spill registers to memory", "scaled_flat_f32", " spills ", " bytes")

    def test_dispatch(self):
        # What the bench measures is larger than what the last kernel takes.
        self.undone(SCALED.replace("kernel flat(BN) {", "kernel flat(BN) when N <= 1000 {"), "dispatch sm_80", "1 call of 9 finds no variant",
                    "N=4096 T=f32: scaled: no kernel takes this call", "tilegymc explain scaled --cases --arch 80")

    def test_simulator(self):
        # No target's exp is the interpreter's to the bit.
        text = SCALED.replace("f32(x) * factor", "exp(f32(x)) * factor").replace("f32(load(x.tile(BN)[i])) *", "exp(f32(load(x.tile(BN)[i]))) *")
        self.undone(text.replace("x = [1, -2]; expect y = [2, -4]", "x = [0, 0]; expect y = [2, 2]"), "simulator sm_80", "cases failed",
                    "sim sm_80 scaled_flat_f32_BN256_warps2_fast against reference", "tilegymc test scaled --backend sim --arch sm_80 --limit 4096")

    def test_tolerance(self):
        self.undone(SCALED.replace("bf16: 0 }", "bf16: 0.2 }"), "tolerance", "looser than the errors need", "the tolerance of bf16 is 0.2")

    def test_gpu(self):
        self.undone(SCALED, "gpu", "cases failed", "elements differ", "tilegymc test scaled --backend gpu", **self.on_a_gpu())

    def test_golden(self):
        os.makedirs(self.path("tests/golden"))
        self.undone(SCALED, "golden", "none was approved", "tests/golden/scaled.sm_80.h: missing", "tilegymc golden scaled --dir tests/golden --update")
        self.expect(OK, "golden", "scaled", "--arch", "sm_80", "--update", cwd=self.folder.name)
        self.assertEqual(self.verify(OK, SCALED)["golden"]["status"], "passed")
        self.undone(SCALED.replace("factor: f32 = 2", "factor: f32 = 2, more: f32 = 1").replace("* factor", "* factor * more"), "golden", "it differs from what was approved", "scaled.sm_80.manifest.json: differs")
        os.makedirs(self.path("kernels/tuned/sm_80"))
        entry = {"kernel": "flat", "point": {"BN": 512, "warps": 2}}
        self.write("kernels/tuned/sm_80/scaled.json", json.dumps({"format": 1, "op": "scaled", "arch": "sm_80", "entries": [entry]}))
        self.expect(INPUT_WRONG, "golden", "scaled", "--arch", "sm_80", cwd=self.folder.name, err="scaled.json:1:60: error: the tuned point")

    def test_benchmark(self):
        zeros = SCALED.replace("N = 4096; T", "N = 4096; x = 0; T")  # zero in, zero out: all that the driver's kernels can do
        measured = self.path("kernels/measured/Fake-GPU")
        line = lambda status, *texts, text=zeros, arguments=(), **environment: self.undone(
            text, "benchmark", *texts, status=status, arguments=arguments, **self.on_a_gpu(**environment))
        line("skipped", "nothing was recorded on a Fake GPU yet; `tilegymc bench scaled --record` begins")
        self.expect(OK, "bench", "scaled", "--record", "--no-peers", cwd=self.folder.name, out="recorded kernels/measured/Fake-GPU/scaled.json", **self.on_a_gpu())
        line("passed", "1 benchmark, none slower than on ", " by more than 5%")
        line("passed", TILEGYM_FAKE_TIMES="scaled=52")
        slower = "1 benchmark slower than recorded by more than "
        line("failed", slower + "1%", "N=4096 T=f32: 0.962 times as fast as recorded", arguments=["--neutral", "1"], TILEGYM_FAKE_TIMES="scaled=52")
        line("failed", slower + "5%", "tilegymc bench scaled --no-peers --baseline recorded --neutral 5", TILEGYM_FAKE_TIMES="scaled=60")
        line("passed", TILEGYM_FAKE_SLOW_ONCE=self.path("slow"))
        self.assertTrue(os.path.exists(self.path("slow")))
        line("failed", "1 benchmark failed", "two runs on the same inputs gave other bits", TILEGYM_FAKE_WRONG="scaled")
        line("failed", "the recording is of other benchmarks; `tilegymc bench scaled --record` makes it anew", "scaled N=8192 T=f32: not recorded",
             "scaled N=4096 T=f32: recorded, but not in the spec", text=zeros.replace("N = 4096; x", "N = 8192; x"))
        os.rename(measured + "/scaled.json", measured + "/other.json")
        line("failed", "nothing is recorded of it on a Fake GPU", "kernels/measured/Fake-GPU/scaled.json: missing; `tilegymc bench scaled --record` makes it")
        line("skipped", "the spec says: it is too simple", text=zeros[:zeros.index("bench {")] + 'bench none "it is too simple"\n')


cli.main()
