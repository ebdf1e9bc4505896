# SPDX-License-Identifier: MIT
"""Compiling, and what the commands make of a package, with a driver on which kernels do nothing or what the test asks for."""
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

import cli
from cli import CHECK_FAILED, ENVIRONMENT_LACKS, INPUT_WRONG, OK

ONE_CASE = ["-k", "R=9 N=63 T=f32"]
SPILLING = """op sums(x: f32[M, 8192]) -> y: f32[M, 8192]
reference { y = x + sum(x, axis=1) }
kernel all() {
  grid(M)
  let t = load(x[block(0), 0 :+ 8192])
  store(y[block(0), 0 :+ 8192], t + sum(t))
}
tune all { warps = 1; hold = registers }
test {
  case "one" { M = 0; x = 1; expect y = [] }
  tolerance { f32: 1e-5 }
}
bench none "a test"
"""
SORTED = """op sorted(x: f32[8]) -> y: f32[8]
reference { y = sort(x) }
kernel all() {
  grid(1)
  store(y[0 :+ 8], sort(load(x[0 :+ 8])))
}
test {
  case "by hand" { x = [1, 0, 3, 2, 5, 4, 7, 6]; expect y = [0, 1, 2, 3, 4, 5, 6, 7] }
  tolerance { f32: 0 }
}
bench none "a test"
"""

PRODUCTS = """# SPDX-License-Identifier: MIT

## a @ b.
op products(a: bf16[M, K], b: bf16[K, N]) -> c: bf16[M, N]

reference { c = f64(a) @ f64(b) }

kernel tiled(BM, BN, BK) {
  grid(cdiv(M, BM), cdiv(N, BN))
  var acc = zeros(f32, [BM, BN])
  for k in 0 .. cdiv(K, BK) { acc = mma(load(a.tile(BM, BK)[block(0), k]), load(b.tile(BK, BN)[k, block(1)]), acc) }
  store(c.tile(BM, BN)[block(0), block(1)], acc)
}
tune tiled { TUNE }

test {
  case "by hand" { M = 1; N = 1; K = 2; a = [[1, 2]]; b = [[3], [4]]; expect c = [[11]] }
  tolerance { bf16: 8e-3 }
}
bench none "tests the command"
"""


class Packages(cli.CliTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        cls.package = os.path.join(cls.shared.name, "softmax.tgk")
        cls.compiled = cli.run("compile", "softmax", "--arch", "sm_80", "--dtypes", "f32", "-o", cls.shared.name)

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def gpu_test(self, code, damage=None, out=""):
        return self.expect(code, "test", "softmax", *ONE_CASE, "--backend", "gpu", "--package", self.package, "-j", "1", driver=cli.FAKE_DRIVER, damage=damage, out=out)

    def test_the_same_inputs_give_the_same_bytes(self):
        # Two processes, in which memory lies elsewhere; scalars with defaults, optional tensors, both targets.
        made = []
        for jobs in "1", "2":
            folder = self.path(jobs)
            self.expect(OK, "compile", "rms_norm", "--arch", "sm_80,sm_90a", "--dtypes", "bf16", "--no-cache", "-j", jobs, "-o", folder)
            made.append({path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())})
        self.assertEqual(list(made[0]), ["interface.json", "manifest.json", "rms_norm.h", "rms_norm.o", "rms_norm.tgk"])
        for name in made[0]:
            self.assertTrue(made[0][name] == made[1][name], name + " differs from one compile to the next")

    def test_compile_writes_a_package(self):
        self.assertEqual(self.compiled.returncode, OK, self.compiled.stderr)
        self.assertRegex(self.compiled.stderr, r"15 variants of 1 ops \(10 fast, 0 dense, 5 general, 0 tuned, \d+ from the cache\)")
        self.assertEqual(sorted(os.listdir(self.shared.name)), ["interface.json", "manifest.json", "softmax.h", "softmax.o", "softmax.tgk"])

    def test_compile_errors(self):
        wrong = [(["--arch", "sm_1"], "--arch: 'sm_1' is no target; expected one of sm_80, sm_86"), (["--dtypes", "q8"], "--dtypes: 'q8' is no dtype"), (["--const", "x"], "--const: found 'x', expected NAME=VALUE"),
                 (["--const", "x=1"], "no op has a const or a listed dim 'x'"), (["--emit", "poem"], "--emit: found 'poem', expected package")]
        for arguments, text in wrong:
            self.expect(INPUT_WRONG, "compile", "softmax", *arguments, "-o", self.path("out"), err=text)
            self.assertFalse(os.path.exists(self.path("out")))
        self.expect(OK, "compile", "vector_add", "--arch", "sm_80", "--dtypes", "f32", "--emit", "ptx", out=".visible .entry vector_add")

    def test_what_no_target_compiles_is_refused_in_plans_as_in_kernels(self):
        kernel = self.write("sorted.tile", SORTED)
        with open(os.path.join(cli.SOURCE, "tests/specs/good/two-launches.tile"), encoding="utf-8") as file:
            text = file.read()
        for old, new in [("rstd: f32[R]) ->", "rstd: f32[R], eps: f32 = 0.5) ->"), ("kernel reduce_rows(BN, BG, pw: f32[G, N], pb: f32[G, N])", "kernel reduce_rows(BN, BG, pw: f32[G, N], pb: f32[G, N], e: f32)"), ("launch reduce_rows(64, 16, pw = pw, pb = pb)", "launch reduce_rows(64, 16, pw = pw, pb = pb, e = eps * eps)")]:
            self.assertIn(old, text)
            text = text.replace(old, new)
        squaring = self.write("squaring.tile", text)
        for spec, why in [(squaring, "the target cannot lower arithmetic of a plan on what is no index yet"), (kernel, "the target cannot lower `sort` yet")]:
            for more in [[], ["-q"]]:
                self.expect(INPUT_WRONG, "compile", spec, "--arch", "sm_80", "-o", self.path("out"), *more, err=why)
            found = json.loads(self.expect(INPUT_WRONG, "compile", spec, "--arch", "sm_80", "-o", self.path("out"), "--json"))
            self.assertIn(why, [d["message"] for d in found])
            self.assertFalse(os.path.exists(self.path("out")))
            self.expect(INPUT_WRONG, "compile", spec, "--arch", "sm_80", "-o", self.path("out"), "--keep-going", err=["is left out: " + why, "no op is left to compile"])
            self.expect(OK, "compile", "vector_add", spec, "--arch", "sm_80", "--dtypes", "f32", "--keep-going", "-q", "-o", self.path("out"), err="is left out: " + why)
            shutil.rmtree(self.path("out"))

    def test_spills_are_said(self):
        if not json.loads(self.expect(OK, "doctor", "--json"))["ptxas"]["found"]:
            self.skipTest("there is no ptxas")
        spec = self.write("spilling.tile", SPILLING)
        done = cli.run("compile", spec, "--arch", "sm_90a", "-o", self.path("out"))
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertRegex(done.stderr, "'sums_all_warps1_hold0_fast' for sm_90a spills registers to memory: [1-9][0-9]* bytes of stores and [1-9][0-9]* of loads")

    def test_of_kernels_that_others_cover_those_that_spill_stay_where_they_were_measured(self):
        found = json.loads(self.expect(OK, "doctor", "--json"))["ptxas"]
        if not found["found"]:
            self.skipTest("there is no ptxas")
        kernel = """kernel NAME {
  grid(M)
  store(y[block(0), 0 :+ 256], load(x[block(0), 0 :+ 256]))
}
tune WORD { warps = 1 }
"""
        kernels = [kernel.replace("NAME", name).replace("WORD", name[:3]) for name in ("few() when M <= 4", "all()")]
        text = SPILLING.replace("8192", "256").replace("x + sum(x, axis=1)", "x")
        spec = self.write("twice.tile", text[:text.index("kernel")] + "".join(kernels) + text[text.index("test {"):])
        # Says of all kernels that they spill.
        wrapper = self.write("ptxas", f"""#!/bin/sh
{found["what"].split(": ")[1].rsplit(" (", 1)[0]} "$@" 2>&1 | sed 's/0 bytes spill stores, 0 bytes spill loads/8 bytes spill stores, 8 bytes spill loads/'
""")
        os.chmod(wrapper, 0o755)
        os.makedirs(self.path("tuned/sm_90a"))
        self.write("tuned/sm_90a/sums.json", json.dumps({"format": 1, "op": "sums", "arch": "sm_90a", "entries": [{"kernel": "few", "point": {"warps": 1}}]}))
        for tuned, names in [("none", []), (self.path("tuned"), ["sums_few_warps1_fast"])]:
            self.expect(OK, "compile", spec, "--arch", "sm_90a", "--tuned", tuned, "-o", self.path("out"), environment={
                "TILEGYM_PTXAS": wrapper, "TILEGYM_CACHE_DIR": self.path("cache")}, err="sums_all_warps1_fast' for sm_90a spills registers to memory: 8 bytes")
            with open(self.path("out/manifest.json")) as file:
                variants = [v["entry"] for v in json.load(file)["ops"][0]["variants"]]
            self.assertEqual([v for v in variants if v.startswith("sums_few") and v.endswith("_fast")], names)

    def test_a_serialized_wgmma_costs_the_point(self):
        found = json.loads(self.expect(OK, "doctor", "--json"))["ptxas"]
        if not found["found"]:
            self.skipTest("there is no ptxas")
        # Says of kernels of 256 columns what the real one says where registers do not suffice.
        wrapper = self.write("ptxas", f"""#!/bin/sh
for word in "$@"; do grep -q -e BN256 -- "$word" 2>/dev/null && echo "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized"; done
exec {found["what"].split(": ")[1].rsplit(" (", 1)[0]} "$@"
""")
        os.chmod(wrapper, 0o755)
        compile = lambda code, tune, err: self.expect(
            code, "compile", self.write("products.tile", PRODUCTS.replace("TUNE", tune)), "--arch", "sm_90a", "--tuned", "none", "-o", self.path("out"), err=err,
            environment={"TILEGYM_PTXAS": wrapper, "TILEGYM_CACHE_DIR": self.path("cache")})
        compile(OK, "BM = 128; BN in [128, 256]; BK = 64; warps = 8", "")
        self.assertIn("BN128", self.read("out/manifest.json"))
        self.assertNotIn("BN256", self.read("out/manifest.json"))
        # Where no point is left, it is the error of the line that multiplies.
        compile(INPUT_WRONG, "BM = 128; BN = 256; BK = 64; warps = 8", ["products.tile:11:", "(C7510) Potential Performance Loss", "tune with smaller tiles or more warps"])

    def test_a_killed_compile_leaves_no_partial_file(self):
        for seconds in [0.05, 0.3, 1]:
            process = subprocess.Popen([cli.TOOL, "compile", "softmax", "rms_norm", "--arch", "sm_80", "--no-cache", "-o", self.path("out")], cwd=cli.SOURCE,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(seconds)
            process.send_signal(signal.SIGKILL)
            process.wait()
            left = os.listdir(self.path("out")) if os.path.exists(self.path("out")) else []
            self.assertEqual([name for name in left if not name.endswith(".tmp")], [])

    def test_an_altered_package_is_refused(self):
        with open(self.package, "rb") as file:
            good = file.read()
        for name, bad, why in [("cut", good[: len(good) // 2], "is truncated"), ("table", good[:200] + bytes([good[200] ^ 1]) + good[201:], "its table was altered"),
                               ("code", good[:-9] + bytes([good[-9] ^ 1]) + good[-8:], "the code of a kernel was altered")]:
            path = self.path(name + ".tgk")
            with open(path, "wb") as file:
                file.write(bad)
            self.expect(INPUT_WRONG, "run", "softmax", "--shape", "4,4", "--package", path, err=why)

    def test_a_package_of_another_text_is_refused(self):
        path = self.write("softmax.tile", self.spec("softmax") + "\n# another text\n")
        for command in [["test", path], ["bench", path], ["run", path, "--shape", "4,4"]]:
            self.expect(INPUT_WRONG, *command, "--package", self.package, driver=cli.FAKE_DRIVER, err="compiled from another text")
        self.expect(INPUT_WRONG, "explain", path, "--shape", "4,4", "--package", self.package, err="compiled from another text")
        self.expect(INPUT_WRONG, "run", "rms_norm", "--shape", "4,4", "--package", self.package, driver=cli.FAKE_DRIVER, err="has no op rms_norm")

    def test_what_a_kernel_does_wrong_is_noticed(self):
        self.gpu_test(CHECK_FAILED, out=["two runs on the same inputs gave other bits", "gpu, padded rows, odd base", "gpu, every second element", "gpu, transposed", "4 failed"])
        self.gpu_test(CHECK_FAILED, out=["gpu softmax_streaming_f32", "against reference: y f32: 567 of 567 elements differ"])
        self.gpu_test(CHECK_FAILED, damage="before", out="bytes before its memory were written")
        self.gpu_test(CHECK_FAILED, damage="after", out="bytes after its memory were written")
        self.gpu_test(CHECK_FAILED, damage="elements", out=["`x`: an input was written", "`y`: byte 0 of its memory was written, which is between its elements"])
        self.gpu_test(CHECK_FAILED, damage="launch", out="CUDA_ERROR_FAKE (700)")
        self.gpu_test(CHECK_FAILED, damage="run", out=["the kernel's run failed", "an earlier case left the GPU unusable", "1 failed, 3 skipped"])

    def test_a_failure_says_how_to_run_just_that_case(self):
        out = self.gpu_test(CHECK_FAILED, damage="elements")
        commands = set(re.findall("  rerun: tilegymc (.*)", out))
        self.assertEqual(len(commands), 1)
        words = shlex.split(commands.pop())
        self.assertEqual([words[0], words[words.index("--case") + 1]], ["test", "R=9 N=63 T=f32"])
        cases = json.loads(self.expect(CHECK_FAILED, *words, "--json", driver=cli.FAKE_DRIVER, damage="elements"))["cases"]
        self.assertEqual({(case["backend"].split(",")[0], case["case"]) for case in cases}, {("gpu", "R=9 N=63 T=f32")})
        self.assertIn("--case 'R=9 N=63 T=f32'", cases[0]["rerun"])
        self.expect(INPUT_WRONG, "test", "softmax", "--case", "R=9 N=6", err="no test case matches what -k or --case say")

    def test_skips_say_why(self):
        self.expect(ENVIRONMENT_LACKS, "test", "softmax", "-k", "R=9 N=63 T=bf16", "--backend", "gpu", "--package", self.package, driver=cli.FAKE_DRIVER,
                    out=["the package has no variant for T = bf16", "0 failed, 4 skipped"])
        self.expect(ENVIRONMENT_LACKS, "test", "rms_norm", "-k", "R=9 N=63 T=f32", "--backend", "gpu", "--package", self.package, driver=cli.FAKE_DRIVER,
                    out="the package has no op rms_norm")

    def test_a_wrong_result_is_not_timed(self):
        out = self.expect(CHECK_FAILED, "bench", "softmax", "-k", "N=1024 T=f32", "--package", self.package, "--json", driver=cli.FAKE_DRIVER)
        row = json.loads(out)["rows"][0]
        self.assertIn("two runs", row["error"])
        self.assertNotIn("median_us", row)

    def test_run_says_where(self):
        self.expect(OK, "run", "softmax", "--shape", "4,16", "--package", self.package, driver=cli.FAKE_DRIVER, out=["on Fake GPU: softmax_resident_f32", "y: f32[4, 16] = "])

    def test_explain(self):
        arguments = ["explain", "softmax", "--package", self.package]
        self.expect(OK, *arguments, "--shape", "64,1024", out=["runs softmax_resident_f32", "fast", "registers", "kernel resident when N <= 262144: holds", "bytes      524288"])
        self.expect(OK, *arguments, "--shape", "64,1001", out="fast needs x's last axis to be a multiple of 16 bytes")
        far = json.loads(self.expect(OK, *arguments, "--shape", "4,300001", "--json"))
        self.assertEqual(far["chosen"]["kernel"], "streaming")
        self.assertFalse(far["kernels"][0]["guard_holds"])
        self.assertEqual(sum(v["chosen"] for kernel in far["kernels"] for v in kernel["variants"]), 1)
        self.expect(ENVIRONMENT_LACKS, *arguments, "--shape", "4,4", "--arch", "75", err="no code for this GPU")


class Golden(cli.CliTest):
    def test_differences_need_approval(self):
        folder = self.path("golden")
        arguments = ["golden", "vector_add", "--arch", "sm_80", "--dir", folder]
        self.expect(CHECK_FAILED, *arguments, out=["+++ ", "3 differ"], err="golden --update")
        self.assertEqual(len(os.listdir(folder)), 3)
        self.assertTrue(all(name.endswith(".unapproved") for name in os.listdir(folder)))
        self.expect(OK, *arguments, "--update", out="3 were written")
        self.assertEqual(sorted(os.listdir(folder)), ["vector_add.sm_80.h", "vector_add.sm_80.manifest.json", "vector_add.sm_80.summary"])
        self.expect(OK, *arguments, out="3 goldens are the same, 0 differ")
        path = self.path("golden/vector_add.sm_80.summary")
        with open(path, "a", encoding="utf-8") as file:
            file.write("a line too many\n")
        self.expect(CHECK_FAILED, *arguments, out=["-a line too many", "2 goldens are the same, 1 differ"])
        shutil.rmtree(folder)


cli.main(needs_compiler=True)
