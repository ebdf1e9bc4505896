# SPDX-License-Identifier: MIT
"""`explain`: which variant, why that point, what the others lack, what it takes, and remarks at the spec's lines."""
import json
import os

import cli
from cli import CHECK_FAILED, INPUT_WRONG, OK

HELD = """## Two rows at a time, with a weight.
op held(x: T[*R, N], w: T[N]) -> y: T[*R, N]
  where T: f32 | bf16
reference { y = f32(x) * f32(w) }
kernel flat(BM, BN) when N <= 4096 {
  grid(cdiv(R, BM), cdiv(N, BN))
  let (i, j) = blocks()
  store(y.tile(BM, BN)[i, j], f32(load(x.tile(BM, BN)[i, j])) * f32(load(w.tile(BN)[j])))
}
tune flat { BM in [2]; BN in [256, 512]; warps in [2] }
kernel any() {
  grid(R, N)
  let (i, j) = blocks()
  store(y[i, j], f32(load(x[i, j])) * f32(load(w[j])))
}
test {
  R in [3]; N in [8, 9]; T in all
  case "by hand" { R = 1; N = 1; x = [[2]]; w = [3]; expect y = [[6]] }
  tolerance { f32: 0; bf16: 0 }
}
bench {
  R = 4096; N = 4096; T in [f32]
  bytes = (2 * R * N + N) * sizeof(T)
}
"""


class Explain(cli.CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("specs"))
        self.write("specs/held.tile", HELD)

    def explain(self, code, *arguments, out="", err=""):
        return self.expect(code, "explain", "held", *arguments, out=out, err=err, cwd=self.folder.name)

    def test_the_choice_and_what_it_takes(self):
        out = self.explain(OK, "--shape", "4096,4096", "--shape", "w=4096", out=[
            "held x=f32[4096, 4096] w=f32[4096]\nruns held_flat_f32_BM2_BN512_warps2_fast (fast, sm_90a code)",
            "the first of 2 points by the cost model; no tuned table speaks of it", 'others: {"BM":2,"BN":256,"warps":2}',
            "16384 blocks of 64 threads", "blocks a multiprocessor, limited by", "of 64 warps", "waves", "bytes      134234112", "roofline   27.97 us on H200",
            "kernel flat when N <= 4096: holds", "* held_flat_f32_BM2_BN512_warps2_fast", "an earlier kernel takes the call",
            "more, for other dtypes, sizes or optional tensors (--json lists them)"])
        self.assertNotIn("for T = bf16", out)
        self.explain(OK, "--shape", "4096,4096", "--shape", "w=4096", "--arch", "80", "--card", "a100 40", out="roofline   86.32 us on A100 40 GB")
        self.explain(INPUT_WRONG, "--shape", "4,4", "--shape", "w=4", "--card", "abacus", err="--card: found 'abacus', expected one of H200, H100 SXM, A100 80 GB, A100 40 GB")

    def test_a_tuned_point_says_so(self):
        os.makedirs(self.path("kernels/tuned/sm_90a"))
        self.write("kernels/tuned/sm_90a/held.json", json.dumps({"format": 1, "op": "held", "arch": "sm_90a", "entries": [{"kernel": "flat", "point": {"BM": 2, "BN": 256, "warps": 2}}]}))
        self.explain(OK, "--shape", "4096,4096", "--shape", "w=4096", out=["runs held_flat_f32_BM2_BN256_warps2_fast", "measured fastest: kernels/tuned/sm_90a/held.json"])

    def test_remarks_stand_at_the_spec(self):
        out = self.explain(OK, "--shape", "64,4096", "--shape", "w=4096", out=[
            "specs/held.tile:8:35: note: load of `x`: 16 bytes an access", "specs/held.tile:8:69: note: load of `w`: 16 bytes an access; masked, because it may reach beyond `N`"])
        self.assertNotIn("not vectorised", out)
        self.explain(OK, "--shape", "64,999", "--shape", "w=999", out=[
            "held_flat_f32_BM2_BN512_warps2_dense (dense, sm_90a code)",
            "dense, because fast needs x's address and outer strides to be multiples of 16 bytes; x's last axis to be a multiple of 16 bytes; w's",
            "load of `x`: not vectorised, 4 bytes an access, because where `N` ends is not known to be a multiple of 16 bytes"])
        self.explain(OK, "--shape", "1048576,999", "--shape", "w=999", out=[
            "held_flat_f32_BM2_BN256_warps2_general (general, sm_90a code)",
            "general, because dense needs leading axes that merge, strides that are not negative, and offsets below 2^31",
            "load of `x`: not vectorised, 4 bytes an access, because no axis that it spans is known to have stride 1 (the general variant takes any stride, address and extent)"])
        self.explain(OK, "--shape", "64,999", "--shape", "w=999", "--arch", "80", out=[
            "_general (general, sm_80 code)", "general, because fast needs x's address and outer strides to be multiples of 16 bytes"])
        remark = json.loads(self.explain(OK, "--shape", "64,4096", "--shape", "w=4096", "--json"))["remarks"][0]
        self.assertEqual((remark["file"], remark["line"]), ("specs/held.tile", 8))

    def test_products_say_which_cores(self):
        self.expect(OK, "explain", "matmul", "--shape", "64,64", "--shape", "b=64,64", "--dtype", "f32",
                    out="product without tensor cores, because it is one of f32, exact as `precision=ieee` (the default) asks")
        self.expect(OK, "explain", "matmul", "--shape", "64,64", "--shape", "b=64,64", "--dtype", "bf16", out="product on tensor cores, four warps at a time (wgmma)")

    def test_stages(self):
        self.explain(OK, "--shape", "64,4096", "--shape", "w=4096", "--emit", "ptx", out=".visible .entry held_flat_f32_BM2_BN512_warps2_fast")
        self.explain(OK, "--shape", "64,4096", "--shape", "w=4096", "--emit", "tile", out="tile.load")
        self.explain(INPUT_WRONG, "--shape", "64,4096", "--shape", "w=4096", "--emit", "poem", err="--emit: found 'poem', expected tile, opt, layout, threads, llvm or ptx")

    def test_all_cases(self):
        self.explain(OK, "--cases", out=["R=3 N=8 T=f32", "by hand", "R=4096 N=4096 T=f32"])
        cases = json.loads(self.explain(OK, "--cases", "--json"))["cases"]
        self.assertEqual(len(cases), 7)
        self.assertTrue(all(case["entry"].startswith("held_") for case in cases), cases)
        # A package without a dtype has nothing for its calls.
        self.expect(OK, "compile", "held", "--dtypes", "f32", "--arch", "sm_90a", "-q", "-o", "out", cwd=self.folder.name)
        self.explain(CHECK_FAILED, "--cases", "--package", "out/held.tgk", out=["no variant: ", "T=bf16"])


cli.main(needs_compiler=True)
