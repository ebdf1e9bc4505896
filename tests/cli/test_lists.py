# SPDX-License-Identifier: MIT
"""Ops on lists of tensors: calls from the command line, in the interpreter and on the driver made for tests; what is refused."""
import json
import os

import cli
from cli import INPUT_WRONG, OK

SCALED = """## Each tensor of a list, scaled by its own factor.
op scaled(list a: T[M[], N], factors: f32[G]) -> list c: T[M[], N]
  where T: f32 | bf16, G == len(a) "one factor a tensor"
reference {
  for g in 0 .. len(a) { c[g] = f32(a[g]) * factors[g] }
}
kernel blocks_of_all(BM) when N <= 64 {
  grid(sum(g in 0 .. len(a): cdiv(M[g], BM)))
  var g = 0
  var i = block(0)
  while i >= cdiv(M[g], BM) {
    i -= cdiv(M[g], BM)
    g += 1
  }
  store(c[g].tile(BM, 64)[i, 0], f32(load(a[g].tile(BM, 64)[i, 0])) * load(factors[g]))
}
tune blocks_of_all { BM in [2]; warps in [2] }
kernel any() {
  grid(sum(g in 0 .. len(a): M[g]), N)
  var g = 0
  var i = block(0)
  while i >= M[g] {
    i -= M[g]
    g += 1
  }
  store(c[g][i, block(1)], f32(load(a[g][i, block(1)])) * load(factors[g]))
}
test {
  case "by hand" { G = 2; M = [1, 2]; N = 2; a = [[[1, 2]], [[3, 4], [5, 6]]]; factors = [10, 100]; expect c = [[[10, 20]], [[300, 400], [500, 600]]] }
  case "many" { G = 3; M = [7, 0, 9]; N in [33, 70] }
  tolerance { f32: 0; bf16: 0 }
}
bench { G = 2; M = [4096, 2048]; N = 64; T in [f32]; bytes = 2 * (4096 + 2048) * N * 4 }
"""


class Lists(cli.CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("specs"))
        self.write("specs/scaled.tile", SCALED)

    def scaled(self, code, command, *arguments, **options):
        return self.expect(code, command, "scaled", *arguments, cwd=self.folder.name, **options)

    def test_run_in_the_interpreter(self):
        self.scaled(OK, "run", "--shape", "M=2,3", "--shape", "N=4", "--shape", "G=2", "--backend", "interpreter", "--out", self.path("out"),
                    out=["scaled a[0]=f32[2, 4] a[1]=f32[3, 4] factors=f32[2]", "c[0]: f32[2, 4] = ", "c[1]: f32[3, 4] = "])
        self.assertEqual(sorted(os.listdir(self.path("out"))), ["c.0.npy", "c.1.npy"])

    def test_what_is_wrong_with_a_call(self):
        self.scaled(INPUT_WRONG, "run", "--shape", "a=4,4", err="--shape a=4,4: 'a' is a list; give the dims of its tensors, such as M=64,128 N=64")
        self.scaled(INPUT_WRONG, "run", "--shape", "N=4", err="the tensors of 'a' are not known: give --shape M=64,128 N=64")
        self.scaled(INPUT_WRONG, "run", "--shape", "M=4", err="the tensors of 'a' are not known: give --shape M=64,128 N=64")
        self.scaled(INPUT_WRONG, "run", "a=x.npy", err="a is a list of tensors, which no file holds; --shape says how large they are")
        self.scaled(INPUT_WRONG, "run", "--shape", "M=4,5", "--shape", "N=4", "--shape", "G=3", err="one factor a tensor")

    @cli.unittest.skipUnless(cli.has_compiler(), "[SKIP] built without the compiler")
    def test_compiled(self):
        out = self.scaled(OK, "explain", "--shape", "M=64,128,1", "--shape", "N=64", "--shape", "G=3", "--arch", "90",
                          out=["scaled a[0]=f32[64, 64] a[1]=f32[128, 64] a[2]=f32[1, 64]", "scaled_blocks_of_all_f32_BM2_warps2_fast", "97 blocks of 64 threads"])
        self.assertNotIn("error", out)
        self.scaled(OK, "compile", "--arch", "sm_80,sm_90a", "-o", self.path("kernels"))
        package = self.path("kernels/scaled.tgk")
        with open(self.path("kernels/interface.json"), encoding="utf-8") as file:
            arguments = json.load(file)["ops"][0]["arguments"]
        self.assertEqual([(a["name"], a["kind"], a["shape"]) for a in arguments],
                         [("a", "list", ["M[]", "N"]), ("factors", "tensor", ["G"]), ("c", "list", ["M[]", "N"])])
        with open(self.path("kernels/manifest.json"), encoding="utf-8") as file:
            manifest = json.load(file)["ops"][0]
        self.assertEqual([a["kind"] for a in manifest["arguments"]], ["list", "tensor", "list"])
        self.assertEqual([t.get("list", False) for t in manifest["tensors"]], [True, False, True])
        call = ["--shape", "M=2,3", "--shape", "N=4", "--shape", "G=2", "--package", package]
        self.scaled(OK, "run", *call, driver=cli.FAKE_DRIVER, out=["on Fake GPU: scaled_blocks_of_all_f32", "c[0]: f32[2, 4] = "])

    @cli.unittest.skipUnless(cli.has_compiler(), "[SKIP] built without the compiler")
    def test_more_parameters_than_a_launch_has(self):
        lists = [f"a{i}" for i in range(13)]
        body = "\n".join(f"  store(c[block(0)][0, 0, 0, 0], load({name}[block(0)][0, 0, 0, 0]))" for name in lists)
        path = self.write("much.tile", f"""op much({', '.join(f'list {name}: f32[M[], 2, 2, 2]' for name in lists)}) -> list c: f32[M[], 2, 2, 2]
reference {{ for g in 0 .. len(a0) {{ c[g] = a12[g] }} }}
kernel all() {{
  grid(len(a0))
{body}
}}
tune all {{ warps in [1] }}
test {{ case "one" {{ M = [1]; expect c = [[[[[0, 0], [0, 0]], [[0, 0], [0, 0]]]]] }}; tolerance {{ f32: 0 }} }}
bench none "too large to compile"
""")
        self.expect(INPUT_WRONG, "compile", path, "--arch", "sm_80", "-o", self.path("kernels"),
                    err=["the parameters of kernel 'all' take 36352 bytes, but a launch has at most 32764", "use fewer lists, or of fewer axes"])

    @cli.unittest.skipUnless(cli.has_compiler(), "[SKIP] built without the compiler")
    def test_plans_are_refused(self):
        path = self.write("planned.tile", """op planned(list a: f32[M[]]) -> list c: f32[M[]]
reference { for g in 0 .. len(a) { c[g] = a[g] } }
kernel copy(first: index) {
  grid(len(a))
  for i in first .. M[block(0)] { store(c[block(0)][i], load(a[block(0)][i])) }
}
plan all() { launch copy(first=0) }
test { case "by hand" { M = [2]; a = [[1, 2]]; expect c = [[1, 2]] }; tolerance { f32: 0 } }
bench none "refused"
""")
        self.expect(OK, "check", path)
        self.expect(INPUT_WRONG, "compile", path, "--arch", "sm_80", "-o", self.path("kernels"), err=["planned.tile:1:17: error: the target cannot lower a plan of an op on lists yet"])


cli.main()
