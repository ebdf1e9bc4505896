# SPDX-License-Identifier: MIT
"""Compiled code in the GPU simulator: `test --backend sim` and `check --sim`, findings at the spec's line, and what is left out, aloud."""
import json
import os

import cli
from cli import CHECK_FAILED, ENVIRONMENT_LACKS, INPUT_WRONG, OK

RACE = """## A copy that two blocks make, both the whole of it: the numbers are right every time.
op twice(x: f32[N]) -> z: f32[N]
reference { z = x }
kernel both(BN) when N <= 128 {
  grid(2)
  store(z.tile(BN)[0], load(x.tile(BN)[0]))
}
tune both { BN in [128]; warps in [1] }
test {
  N in [100, 128]
  case "by hand" { N = 2; x = [1, 2]; expect z = [1, 2] }
  tolerance { f32: 0 }
}
bench none "a test"
"""

# Of two types, and of two kernels one that takes short rows alone.
COPIES = """## A copy.
op copies(x: T[N]) -> z: T[N]
  where T: f32 | f16
reference { z = x }
kernel few(BN = pow2ceil(N)) when N <= 128 {
  grid(1)
  store(z.tile(BN)[0], load(x.tile(BN)[0]))
}
tune few { warps in [1] }
kernel any(BN) {
  grid(cdiv(N, BN))
  store(z.tile(BN)[block(0)], load(x.tile(BN)[block(0)]))
}
tune any { BN in [128]; warps in [1] }
test {
  N in [60, 200]; T in all
  case "by hand" { N = 2; T in all; x = [1, 2]; expect z = [1, 2] }
  tolerance { f32: 0; f16: 0 }
}
bench none "a test"
"""

CASE = ["softmax", "-k", "R=9 N=63 T=f32"]


# Backwards, which no two blocks may do in one buffer.
BACKWARDS = """## The order of elements turned around.
op backwards(x: f32[N]) -> y: f32[N]
  y alias x
reference { y = x[iota(N) * -1 + N - 1] }
kernel flat(BN) {
  grid(cdiv(N, BN))
  let i = block(0) * BN + iota(BN)
  store(y[i], load(x[N - 1 - i]))
}
tune flat { BN in [64] }
test {
  N = 100
  case "by hand" { N = 2; x = [1, 2]; expect y = [2, 1] }
  tolerance { f32: 0 }
}
bench none "a mistake"
"""


def has_simulator():
    return "built without" not in cli.run("check", *CASE, "--sim").stderr


class Simulator(cli.CliTest):
    def setUp(self):
        super().setUp()
        if not has_simulator():
            self.skipTest("this tilegymc was built without the simulator")

    def test_cases_run_for_every_target(self):
        out = self.expect(OK, "test", *CASE, "--backend", "sim", "-j2",
                          out=["passed  softmax, sim sm_80: ", "passed  softmax, sim sm_90a: ", "sim sm_90a, padded rows, odd base", "0 failed"])
        self.assertNotIn("interpreter", out)
        out = self.expect(OK, "check", *CASE, "--sim", "--arch", "sm_90a", out=["passed  softmax, interpreter", "passed  softmax, sim sm_90a"])
        self.assertNotIn("sm_80", out)
        cases = json.loads(self.expect(OK, "test", *CASE, "--backend", "sim", "--arch", "sm_80", "--json"))["cases"]
        self.assertEqual({case["backend"].split(",")[0] for case in cases}, {"sim sm_80"})

    def test_what_no_case_takes_is_not_compiled(self):
        path = self.write("copies.tile", COPIES)
        # Each is compiled with facts and without.
        for cases, variants in (("N=200 T=f32", 2), ("N=60 T=f32", 4), ("N=60", 8)):
            folder = self.path(cases)
            self.expect(OK, "test", path, "-k", cases, "--backend", "sim", "--arch", "sm_80", environment={"TILEGYM_CACHE_DIR": folder}, out="0 failed")
            self.assertEqual(len(os.listdir(folder)), variants, cases)

    def test_all_leaves_it_out(self):
        self.assertNotIn("sim", self.expect(OK, "test", *CASE))

    def test_findings_fail_at_the_line_of_the_spec(self):
        path = self.write("twice.tile", RACE)
        self.expect(CHECK_FAILED, "test", path, "--backend", "sim", "--arch", "sm_80",
                    out=["failed  twice, sim sm_80: N=100", "twice.tile:6:3: error: race: ", "block 0 thread", "block 1 thread", "store(z.tile(BN)[0]",
                         "help: the schedule's seed is "])

    def test_outputs_that_may_lie_in_an_input_do(self):
        path = self.write("backwards.tile", BACKWARDS)
        self.expect(CHECK_FAILED, "test", path, "--backend", "sim", "--arch", "sm_80",
                    out=["passed  backwards, sim sm_80: N=100", "failed  backwards, sim sm_80, in place: N=100", "error: race: "])

    def test_large_cases_are_skipped_aloud(self):
        self.expect(OK, "test", "softmax", "-k", "R=9", "-k", "T=f32", "--backend", "sim", "--arch", "sm_80", "--limit", "1000",
                    out="skipped softmax, sim sm_80: R=9 N=1024 T=f32 (it has 18432 elements, more than --limit 1000 for the simulator)")

    def test_wrong_options(self):
        self.expect(INPUT_WRONG, "test", *CASE, "--backend", "sim", "--arch", "sm_100a", err="--arch: found 'sm_100a', but the simulator pretends to be sm_80 or sm_90a")
        self.expect(INPUT_WRONG, "check", *CASE, "--sim", "--limit", "0", err="--limit")


class WithoutSimulator(cli.CliTest):
    def test_it_is_said(self):
        if has_simulator():
            self.skipTest("this tilegymc has the simulator")
        self.expect(ENVIRONMENT_LACKS, "check", *CASE, "--sim", err="error: --sim: this tilegymc was built without")
        self.expect(ENVIRONMENT_LACKS, "test", *CASE, "--backend", "sim", out="skipped softmax, sim: R=9 N=63 T=f32 (this tilegymc was built without")


cli.main()
