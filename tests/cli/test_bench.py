# SPDX-License-Identifier: MIT
"""`bench`: columns, files, plots, page and baseline, on a driver that makes the times up, beside peers on the tests' own torch."""
import csv
import json
import os
import sys
import tempfile

import cli
from cli import CHECK_FAILED, ENVIRONMENT_LACKS, INPUT_WRONG, OK

# Zero in, zero out: all that the driver's kernels can do.
TWICE = """op twice(x: T[M, N]) -> y: T[M, N]
  where T: f32 | bf16, N <= 512 "a test"
reference { y = x + x }
kernel rows(BN = pow2ceil(N)) {
  grid(M)
  let t = load(x.tile(1, BN)[block(0), 0])
  store(y.tile(1, BN)[block(0), 0], t + t)
}
test {
  case "by hand" { M = 1; N = 2; x = 0; expect y = [[0, 0]] }
  tolerance { f32: 0; bf16: 0 }
}
bench {
  M in [4, 64]; N = 256; T in [f32, bf16]; x = 0
  bytes = 2 * M * N * sizeof(T)
  peer torch "x + x"
  peer compile "x + nothing"
  peer triton "twice(x)"
}
"""
PRODUCT = """op product(a: f32[M, K], b: f32[K, N]) -> c: f32[M, N]
reference { c = a @ b }
kernel dots(BK = pow2ceil(K)) when K <= 512 {
  grid(M * N)
  let (i, j) = (block(0) // N, block(0) % N)
  store(c[i, j], sum(load(a[i, 0 :+ BK], pad=0) * load(b[0 :+ BK, j], pad=0)))
}
test {
  case "by hand" { M = 1; N = 1; K = 1; a = 0; b = 0; expect c = [[0]] }
  tolerance { f32: 0 }
}
bench {
  M in [32, 64]; N = M; K = 32; a = 0; b = 0
  flops = 2 * M * N * K
  peer torch "a @ b"
}
"""
# The two other kinds of product that cuBLASLt is told of.
STACKS = """op stacks(a: f32[Q, M, K], b: f32[Q, K, N]) -> c: f32[Q, M, N]
reference { c = a @ b }
kernel dots(BK = pow2ceil(K)) when K <= 512 {
  grid(M * N, Q)
  let (i, j) = (block(0) // N, block(0) % N)
  let q = block(1)
  store(c[q, i, j], sum(load(a[q, i, 0 :+ BK], pad=0) * load(b[q, 0 :+ BK, j], pad=0)))
}
test {
  case "by hand" { Q = 1; M = 1; N = 1; K = 1; a = 0; b = 0; expect c = [[[0]]] }
  tolerance { f32: 0 }
}
bench {
  Q = 3; M = 32; N = 16; K = 8; a = 0; b = 0
  flops = 2 * Q * M * N * K
  peer torch "torch.bmm(a, b)"
}
"""
LAYER = """op layer(x: f32[M, K], w: f32[N, K], bias: f32[N]?) -> c: f32[M, N]
reference {
  c = x @ w.T
  const if present(bias) { c = c + bias }
}
kernel dots(BK = pow2ceil(K)) when K <= 512 {
  grid(M * N)
  let (i, j) = (block(0) // N, block(0) % N)
  var s = sum(load(x[i, 0 :+ BK], pad=0) * load(w[j, 0 :+ BK], pad=0))
  const if present(bias) { s += load(bias[j]) }
  store(c[i, j], s)
}
test {
  case "by hand" { M = 1; N = 1; K = 1; x = 0; w = 0; bias = 0; expect c = [[0]] }
  tolerance { f32: 0 }
}
bench {
  M = 32; N = 16; K = 8; x = 0; w = 0; bias = 0
  flops = 2 * M * N * K
  peer torch "torch.nn.functional.relu(torch.nn.functional.linear(x, w, bias))"
}
"""
GNUPLOT = """#!/bin/sh
# Writes the files that its script names.
[ "$1" = --version ] && exit 0
sed -n "s/^set output '\\(.*\\)'/\\1/p" "$1" | while read -r file; do echo "<svg/>" >"$file"; done
"""


class Bench(cli.CliTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        for name, text in [("twice.tile", TWICE), ("product.tile", PRODUCT), ("stacks.tile", STACKS), ("layer.tile", LAYER), ("gnuplot", GNUPLOT)]:
            with open(os.path.join(cls.shared.name, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.chmod(os.path.join(cls.shared.name, "gnuplot"), 0o755)
        cls.spec_path = os.path.join(cls.shared.name, "twice.tile")
        built = cli.run("compile", cls.spec_path, "--arch", "sm_90a", "-o", os.path.join(cls.shared.name, "out"))
        assert built.returncode == OK, built.stderr
        cls.package = os.path.join(cls.shared.name, "out", "twice.tgk")

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def bench(self, *options, code=OK, times="bf16=10;f32=80", specs=None, out="", err="", path=None, torch=True, **environment):
        own = [self.spec_path, "--package", self.package] if specs is None else specs
        path = self.shared.name + ":" + os.environ["PATH"] if path is None else path
        fake_torch = os.path.join(cli.SOURCE, "tests/cli/fake_torch")
        return self.expect(code, "bench", *own, *options, driver=cli.FAKE_DRIVER, out=out, err=err,
                           environment={"TILEGYM_FAKE_TIMES": times, "PATH": path, "PYTHONPATH": fake_torch if torch else "", "TILEGYM_PYTHON": sys.executable, **environment})

    def run_of(self, name="now"):
        return json.loads(self.read(name + "/bench.json"))

    def test_columns(self):
        run = json.loads(self.bench("--json"))
        self.assertEqual([run["device"], run["driver"], run["peers"], run["peak_GBps"]], ["Fake GPU", "13.0", "torch 0.0, no triton", 250])
        self.assertEqual([row["case"] for row in run["rows"]], ["M=4 N=256 T=f32", "M=4 N=256 T=bf16", "M=64 N=256 T=f32", "M=64 N=256 T=bf16"])
        row = run["rows"][2]
        self.assertEqual([row["metric"], row["bytes"], row["median_us"], row["spread"], row["timed"]], ["GBps", 131072, 80, 0, "by events"])
        self.assertAlmostEqual(row["GBps"], 131072 / 80e3, 4)
        self.assertAlmostEqual(row["of_roofline"], 131072 / 250e9 / 80e-6, 4)
        self.assertIn("twice_rows_f32", row["variant"])
        self.assertEqual(list(row["peers"]), ["copy", "torch", "compile", "triton"])
        self.assertEqual([row["peers"]["copy"]["median_us"], row["peers"]["copy"]["ours_is"]], [50, 0.625])
        self.assertEqual(row["peers"]["torch"]["median_us"], 40)
        self.assertEqual(row["peers"]["compile"], {"lacking": "NameError: name 'nothing' is not defined"})
        self.assertEqual(row["peers"]["triton"], {"lacking": "RuntimeError: triton is not installed"})
        self.bench(out=["twice", "of roofline", "copy GB/s", "torch GB/s", "compile: NameError: name 'nothing' is not defined"])

    def test_short_calls_run_in_graphs(self):
        row = json.loads(self.bench("-k", "M=4", "-k", "bf16", "--json"))["rows"][0]
        self.assertEqual([row["timed"], row["median_us"], row["peers"]["copy"]["median_us"]], ["in a graph", 10, 50])
        self.assertEqual(row["peers"]["torch"]["median_us"], 40 / 64)  # the graph's time, of 64 runs

    def test_files(self):
        self.bench("-o", self.path("now"))
        self.assertEqual(sorted(os.listdir(self.path("now/plots"))), [f"twice-N256-{t}-GBps.{kind}" for t in ("bf16", "f32") for kind in ("png", "svg")])
        rows = list(csv.DictReader(self.read("now/bench.csv").splitlines()))
        self.assertEqual([row["case"] for row in rows], [row["case"] for row in self.run_of()["rows"]])
        self.assertEqual([rows[2][key] for key in ("op", "dtype", "metric", "us", "ours", "triton")], ["twice", "f32", "GBps", "80", "1.6384", ""])
        page = self.read("now/index.html")
        self.assertEqual(page.count("data:image/svg+xml;base64,"), 2)
        for text in ["Fake GPU", "torch 0.0, no triton", "M=64 N=256 T=bf16", "of roofline", "triton: RuntimeError: triton is not installed"]:
            self.assertIn(text, page)
        self.assertNotIn("http", page)  # needs no network
        text = self.bench("--from", self.path("now/bench.json"), "-o", self.path("again"), specs=[])
        self.assertIn("M=64 N=256 T=f32", text)
        for name in ["bench.json", "bench.csv", "index.html"]:
            self.assertEqual(self.read("again/" + name), self.read("now/" + name))

    def test_without_a_plotter(self):
        os.mkdir(self.path("empty"))
        self.bench("--no-peers", "-o", self.path("now"), path=self.path("empty"), TILEGYM_PYTHON="no-python", out="peers: not asked for",
                   err="note: neither gnuplot nor Python's matplotlib is here, so there are no plots; where one is: tilegymc bench --from")
        self.assertNotIn("<img", self.read("now/index.html"))

    def test_a_plotter_that_fails(self):
        os.chmod(self.write("gnuplot", "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho 'no such terminal' >&2\nexit 1\n"), 0o755)
        self.bench("--no-peers", "-o", self.path("now"), code=ENVIRONMENT_LACKS, path=self.folder.name + ":" + os.environ["PATH"],
                   err=["gnuplot does not draw the plots of '", "plots.script': no such terminal"])

    def test_peers_that_cannot_be(self):
        self.bench(TILEGYM_PYTHON="no-python", out="peers: cannot start 'no-python': No such file or directory")
        self.bench(TILEGYM_PYTHON="false", out="peers: the peers' process ended: exit code 1")
        os.chmod(self.write("ends", "#!/bin/sh\nkill -9 $$\n"), 0o755)
        self.bench(TILEGYM_PYTHON=self.path("ends"), out="peers: the peers' process ended: signal 9 (Killed)")
        self.write("torch.py", "raise ImportError('a torch that is broken')")
        self.bench(PYTHONPATH=self.folder.name, out="peers: ImportError: a torch that is broken")

    def test_baseline(self):
        self.bench("--no-peers", "-o", self.path("before"))
        baseline = ["--no-peers", "--baseline", self.path("before/bench.json")]
        self.bench(*baseline, times="bf16=10.2;f32=79", out="0 slower, 0 faster, 4 the same within 3%")
        self.bench(*baseline, "--neutral", "1", code=CHECK_FAILED, times="bf16=10.2;f32=79", out=["2 slower, 2 faster, 0 the same within 1%", "0.980 slower", "1.013 faster"])
        self.bench(*baseline, "-o", self.path("now"), code=CHECK_FAILED, times="bf16=20;f32=80", out="0.500 slower")
        self.assertIn('<span class="slower">2 slower</span>', self.read("now/index.html"))
        self.bench(*baseline, "-k", "M=4 ", out="only in the baseline: twice M=64 N=256 T=f32")
        comparison = json.loads(self.bench(*baseline, "--json"))["baseline"]
        self.assertEqual([comparison["same"], comparison["slower"], round(comparison["changes"][0]["times_as_fast"], 6)], [4, 0, 1])
        self.bench(*baseline, code=INPUT_WRONG, TILEGYM_FAKE_CARD="Other GPU", err="--baseline is of a Fake GPU, but this is a Other GPU")
        self.bench(*baseline, "--shape", "M=8", code=INPUT_WRONG, err="--baseline has none of the benchmarks that were timed now")
        before = self.read("before/bench.json")
        for text, why in [(None, "cannot read"), ("[]", "is no bench.json"), (before.replace('"format": 1', '"format": 4'), "has format 4, expected 1")]:
            if text is not None:
                self.write("before/bench.json", text)
            name = self.path("before/bench.json") if text is not None else self.path("nothing.json")
            self.bench("--from", name, specs=[], code=INPUT_WRONG, err=why)

    def test_recordings(self):
        os.mkdir(self.path("specs"))
        self.write("specs/twice.tile", TWICE)
        own, measured = [self.path("specs/twice.tile"), "--package", self.package], "kernels/measured/Fake-GPU/twice.json"
        missing = f"nothing is recorded of twice: {self.path(measured)} is missing; `tilegymc bench twice --record` makes it"
        self.bench("--no-peers", "--baseline", "recorded", specs=own, out=missing)
        self.bench("--no-peers", "--record", "-k", "M=4", specs=own, code=INPUT_WRONG, err="--record is of the spec's whole benchmark: leave out -k and --shape")
        self.bench("--no-peers", "--record", specs=own, code=CHECK_FAILED, TILEGYM_FAKE_WRONG="bf16", err="twice is not recorded, as M=4 N=256 T=bf16 has no time: ")
        self.assertFalse(os.path.exists(self.path(measured)))
        self.bench("-o", self.path("now"), "--record", specs=own, out="recorded " + self.path(measured))
        lines = self.read(measured).splitlines()
        self.assertEqual(len([line for line in lines if line.startswith('    {"op":"twice"')]), 4)  # a row a line
        self.assertEqual([list(row["peers"]) for row in json.loads(self.read(measured))["rows"]], [["copy"]] * 4)
        self.bench("--no-peers", "--baseline", "recorded", specs=own, out="0 slower, 0 faster, 4 the same within 3%")
        self.bench("--no-peers", "--baseline", "recorded", specs=own, code=CHECK_FAILED, times="bf16=10;f32=99", out="0.808 slower")
        again = self.read(measured)
        os.remove(self.path(measured))
        self.bench("--spec-dir", self.path("specs"), "--from", self.path("now/bench.json"), "--record", specs=[])
        self.assertEqual(self.read(measured), again)
        os.rename(self.path("kernels/measured/Fake-GPU"), self.path("kernels/measured/Other-GPU"))
        self.bench("--no-peers", "--baseline", "recorded", specs=own, code=INPUT_WRONG, TILEGYM_FAKE_CARD="Other GPU", err="Other-GPU/twice.json' was recorded on a Fake GPU")

    def test_shapes(self):
        run = json.loads(self.bench("--no-peers", "--json", "--shape", "M=8,N=100", "--shape", "M=3"))
        self.assertEqual([row["case"] for row in run["rows"]], [f"M={m} N={n} T={t}" for m, n in ((8, 100), (3, 256)) for t in ("f32", "bf16")])
        self.bench("--shape", "M", code=INPUT_WRONG, err="found 'M', expected values of dims")

    def test_a_wrong_result_is_not_timed(self):
        self.bench("--no-peers", "-o", self.path("now"), code=CHECK_FAILED, TILEGYM_FAKE_WRONG="bf16", out="failed: twice, case")
        row = self.run_of()["rows"][1]
        self.assertIn("two runs on the same inputs gave other bits", row["error"])
        self.assertNotIn("median_us", row)
        self.assertIn("two runs on the same inputs", self.read("now/index.html"))

    def test_cublaslt_beside_products(self):
        spec = os.path.join(self.shared.name, "product.tile")
        run = json.loads(self.bench("--json", specs=[spec], times="product=30", TILEGYM_CUBLASLT=cli.FAKE_DRIVER))
        row = run["rows"][1]
        self.assertEqual([row["metric"], row["flops"], row["plot"]["name"]], ["TFLOPS", 2 * 64 * 64 * 32, "product-K32"])
        self.assertEqual([row["peers"]["cublaslt"]["median_us"], row["peers"]["cublaslt"]["ours_is"]], [60, 2])
        self.assertNotIn("copy", row["peers"])
        few = json.loads(self.bench("--json", "--no-peers", "-k", "M=64", "--check-elements", "256", specs=[spec], times="product=30"))["rows"][0]
        self.assertEqual(few["checked"], "M=64 K=32 N=64, M=4")  # as few rows as that leaves to a and c; b is whole
        row = json.loads(self.bench("--json", specs=[spec], times="product=30", TILEGYM_CUBLASLT="no-such-library.so"))["rows"][0]
        self.assertIn("no cuBLASLt: neither libcublasLt.so.13 nor .12 is installed", row["peers"]["cublaslt"]["lacking"])

    def test_what_cublaslt_is_told(self):
        # Column-major: c's transpose is b's times a's. The numbers are those of cublasLt.h.
        turned, f32 = ["product 3 = 0", "product 4 = 0"], "matrix of 0: "
        for name, told in [("product", [*turned, f32 + "32 x 32, 32", f32 + "32 x 32, 32", f32 + "32 x 32, 32"]),
                           ("stacks", [*turned, f32 + "16 x 8, 16", "matrix 5 = 3", "matrix 6 = 128", f32 + "8 x 32, 8", "matrix 5 = 3", "matrix 6 = 256",
                                       f32 + "16 x 32, 16", "matrix 5 = 3", "matrix 6 = 512"]),
                           ("layer", ["product 3 = 1", "product 4 = 0", f32 + "8 x 16, 8", f32 + "8 x 32, 8", f32 + "16 x 32, 16", "product 7 = 4", "product 8"])]:
            run = json.loads(self.bench("--json", "-k", name + (" M=32" if name == "product" else ""), specs=[os.path.join(self.shared.name, name + ".tile")],
                                        times=name + "=30", TILEGYM_CUBLASLT=cli.FAKE_DRIVER, TILEGYM_FAKE_TOLD=self.path(name)))
            self.assertEqual(run["rows"][0]["peers"]["cublaslt"]["median_us"], 60, run)
            self.assertEqual(self.read(name).splitlines()[: len(told)], told)

    def test_wrong_usage(self):
        self.bench("--all", code=INPUT_WRONG, err="--all is for all ops: name some, or give --all")
        self.bench("-k", "nothing like this", code=INPUT_WRONG, err="no benchmark of these ops matches")

    def test_matplotlib_draws_where_gnuplot_is_not(self):
        site = self.path("site/matplotlib")
        os.makedirs(site)
        with open(os.path.join(site, "__init__.py"), "w", encoding="utf-8") as file:
            file.write("def use(backend): pass\n")
        with open(os.path.join(site, "pyplot.py"), "w", encoding="utf-8") as file:
            file.write("import types\n\n\ndef subplots(**_):\n    nothing = lambda *_, **__: None\n    names = 'plot set set_xticks set_ylim grid legend'.split()\n"
                       "    return (types.SimpleNamespace(savefig=lambda path, **_: open(path, 'w').write('<svg/>')),\n"
                       "            types.SimpleNamespace(**{name: nothing for name in names}))\n\n\ndef close(_): pass\n")
        os.mkdir(self.path("empty"))
        self.bench("--no-peers", "-o", self.path("now"), path=self.path("empty"), PYTHONPATH=self.path("site"))
        self.assertEqual(len(os.listdir(self.path("now/plots"))), 4)


cli.main(needs_compiler=True)
