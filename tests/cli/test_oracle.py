# SPDX-License-Identifier: MIT
"""`test --save`, and what tools/oracle.py makes of the cases, with a small torch of the tests' own."""
import json
import os
import subprocess
import sys

import cli
from cli import INPUT_WRONG, OK

SPEC = """op running(x: T[R, N], s: f32 = 1, const up: bool = false, w: f32[N]?, seed: u64 = 18446744073709551615) -> (y: T[R, N], n: i32[]?)
  where T: f32 | bf16
reference {
  var t = cumsum(f32(x), axis=1) * s
  const if present(w) { t = t + w }
  const if up { t = t + 1 }
  y = t
  const if present(n) { n[] = 7 }
}
kernel rows(BN = pow2ceil(N)) when N <= 64 {
  grid(R)
  let r = block(0)
  var t = cumsum(f32(load(x[r, 0 :+ BN]))) * s
  const if present(w) { t = t + load(w[0 :+ BN]) }
  const if up { t = t + 1 }
  store(y[r, 0 :+ BN], t)
  const if present(n) { if r == 0 { store(n[], 7) } }
}
test {
  R in [2]; N in [3, 0]; T in all; up in all; s = 2; w in [normal, None]; n = None
  case "by hand" { x = [[1, 2], [0, inf]]; T = f32; w = None; up = false; expect y = [[2, 6], [0, inf]] }
  tolerance { f32: 1e-6; bf16: 1.6e-2 }
  oracle torch "EXPRESSION"
}
bench none "a test"
"""
RIGHT = "(lambda t: t if w is None else torch.Tensor([a + b for a, b in zip(t.values, w.values * R)], t.shape, t.dtype))(torch.cumsum(x.float(), -1) * (s if seed == 2**64 - 1 else 0) + up)"


class Oracle(cli.CliTest):
    def save(self, expression, *more):
        path = self.write("running.tile", SPEC.replace("EXPRESSION", expression))
        self.expect(OK, "test", path, "--backend", "interpreter", "-q", "--save", self.path("cases"), *more)

    def judge(self, code, *texts):
        environment = dict(os.environ, PYTHONPATH=os.path.join(cli.SOURCE, "tests/cli/fake_torch"))
        script = os.path.join(cli.SOURCE, "tools/oracle.py")
        done = subprocess.run([sys.executable, "-B", script, self.path("cases")], capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for text in texts:
            self.assertIn(text, done.stdout)

    def test_agrees(self):
        self.save(RIGHT)
        self.judge(0, "running: compared 17 of reference, 0 failed", "17 compared, 0 failed")

    def test_differs(self):
        self.save(RIGHT + " + (1 if N == 3 and up and w is None else 0)")
        self.judge(1, 'FAILED running, case "R=2 N=3 T=f32 up=true w=None", reference against oracle: y f32: 6 of 6 elements differ\n  first at [0, 0]: got ',
                   "17 compared, 2 failed")

    def test_shapes_and_faults_are_said(self):
        self.save("x.flatten()", "-k", "by hand")
        self.judge(1, "reference against oracle: y f32: got shape [2, 2], want [4]")
        self.setUp()
        self.save("no_such_name", "-k", "by hand")
        self.judge(1, "the oracle fails: NameError: name 'no_such_name' is not defined")

    def test_results_of_compiled_kernels_are_judged_too(self):
        self.save(RIGHT, "-k", "by hand")
        folder = self.path("cases/running/00000")
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
            case = json.load(file)
        case["results"].append({"backend": "gpu", "variant": "rows_fast", "outputs": {"y": ["result0.y.npy"]}})
        with open(os.path.join(folder, "case.json"), "w", encoding="utf-8") as file:
            json.dump(case, file)
        with open(os.path.join(folder, "reference.y.npy"), "rb") as file:
            data = file.read()
        with open(os.path.join(folder, "result0.y.npy"), "wb") as file:
            file.write(data)
        self.judge(0, "running: compared 1 of reference, 1 of gpu, 0 failed")
        with open(os.path.join(folder, "result0.y.npy"), "wb") as file:
            file.write(data[:-13] + bytes([data[-13] ^ 1]) + data[-12:])  # an exponent bit of the first element
        self.judge(1, "gpu rows_fast against oracle: y f32: 1 of 4 elements differ\n  first at [0, 0]: got 8.0, want 2.0")

    def test_nothing_compared_is_no_success(self):
        path = self.write("running.tile", SPEC.replace('  oracle torch "EXPRESSION"\n', ""))
        self.expect(OK, "test", path, "--backend", "interpreter", "-q", "-k", "by hand", "--save", self.path("cases"))
        self.judge(2, "running: compared nothing, 0 failed, 1 cases have no oracle")

    def test_a_folder_in_use_is_refused(self):
        self.write("file", "")
        self.expect(INPUT_WRONG, "test", "vector_add", "--save", self.folder.name, err="is there already and not empty")


cli.main()
