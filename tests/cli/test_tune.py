# SPDX-License-Identifier: MIT
"""`tune`: building, measuring on a driver that makes the times up, finishing, and what the compiler makes of the table."""
import glob
import json
import os
import random
import shutil
import signal
import tempfile

import cli
from cli import CHECK_FAILED, ENVIRONMENT_LACKS, INPUT_WRONG, OK

# Zero in, zero out: all that the driver's kernels can do.
TWICE = """op twice(x: T[M, N]) -> y: T[M, N]
  where T: f32 | f16 | bf16, N <= 512 "a test"
reference { y = x + x }
kernel rows(BM, BN = pow2ceil(N)) {
  grid(cdiv(M, BM))
  let t = load(x.tile(BM, BN)[block(0), 0])
  store(y.tile(BM, BN)[block(0), 0], t + t)
}
tune rows { BM in [1, 2, 4]; warps in [1, 2] }
test {
  case "by hand" { M = 1; N = 2; x = 0; expect y = [[0, 0]] }
  tolerance { f32: 0; f16: 0; bf16: 0 }
}
bench {
  M in [64, 4096]; N = 256; T in [f32, bf16]; x = 0
  bytes = 2 * M * N * sizeof(T)
}
"""
TIMES = "BM1=80.5;BM4=80;BM2=90"


class Tune(cli.CliTest):
    @classmethod
    def setUpClass(cls):
        cls.shared = tempfile.TemporaryDirectory()
        os.mkdir(os.path.join(cls.shared.name, "specs"))
        cls.spec_path = os.path.join(cls.shared.name, "specs", "twice.tile")
        with open(cls.spec_path, "w", encoding="utf-8") as file:
            file.write(TWICE)
        cls.plan = os.path.join(cls.shared.name, "plan")
        cls.built = cli.run("tune", cls.spec_path, "--build", cls.plan)

    @classmethod
    def tearDownClass(cls):
        cls.shared.cleanup()

    def setUp(self):
        super().setUp()
        self.assertEqual(self.built.returncode, OK, self.built.stderr)
        shutil.copytree(self.plan, self.path("plan"))
        self.tables = self.path("tuned")

    def measure(self, code=OK, times=TIMES, out="", err="", options=(), **environment):
        return self.expect(code, "tune", self.spec_path, "--measure", self.path("plan"), *options, driver=cli.FAKE_DRIVER, out=out, err=err,
                           environment={"TILEGYM_FAKE_TIMES": times, **environment})

    def again(self):
        """The plan as it was built, without results."""
        shutil.rmtree(self.path("plan"))
        shutil.copytree(self.plan, self.path("plan"))

    def finish(self, code=OK, out="", err=""):
        return self.expect(code, "tune", self.spec_path, "--finish", self.path("plan"), "-o", self.tables, out=out, err=err)

    def table(self):
        return json.loads(self.read("tuned/sm_90a/twice.json"))

    def results(self):
        return [json.loads(line) for line in self.read("plan/results.jsonl").splitlines()]

    def compile(self, code, err=""):
        folder = self.path("out")
        self.expect(code, "compile", self.spec_path, "--arch", "sm_90a", "--tuned", self.tables, "-o", folder, err=err)
        if code == OK:
            with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
                return json.load(file)["ops"][0]["variants"]

    def test_plan(self):
        plan = json.loads(self.read("plan/plan.json"))
        self.assertEqual([plan["arch"], plan["ops"][0]["op"], plan["ops"][0]["package"]], ["sm_90a", "twice", "twice.tgk"])
        points = plan["ops"][0]["points"]
        self.assertEqual(len(points), 2 * 6)  # both dtypes of the bench, not f16; N=256 alone
        self.assertEqual({json.dumps(p["key"]["derived"]) for p in points}, {'{"BN": 256}'})
        out = self.expect(OK, "tune", self.spec_path, "--build", self.path("none"), "--shape", "M=8,N=100", "--dry-run", err="twice: 12 points")
        self.assertIn("BN128", out)
        self.assertEqual(glob.glob(self.path("none") + "/*"), [])

    def test_a_plan_grows_by_op(self):
        os.mkdir(self.path("specs"))
        path = self.write("specs/thrice.tile", TWICE.replace("twice", "thrice"))
        for _ in range(2):
            self.expect(OK, "tune", path, "--build", self.path("plan"), "--shape", "M=8")
            self.assertEqual([op["op"] for op in json.loads(self.read("plan/plan.json"))["ops"]], ["twice", "thrice"])
        self.expect(INPUT_WRONG, "tune", path, "--build", self.path("plan"), "--arch", "sm_80", err="has a plan for sm_90a, not sm_80: build into another folder")

    def test_build_errors(self):
        for shape, text in [("M", "found 'M', expected values of dims, such as R=4096,N=1024"), ("M=0", "found 'M=0'"), ("K=4", "'K' is no run-time dim of the op")]:
            self.expect(INPUT_WRONG, "tune", self.spec_path, "--build", self.path("none"), "--shape", shape, err=text)
        self.expect(INPUT_WRONG, "tune", self.spec_path, "--build", self.path("none"), "--arch", "sm_1", err="--arch: 'sm_1' is no target")
        self.expect(INPUT_WRONG, "tune", self.spec_path, err="nothing to do: give --build FOLDER")

    def test_the_fastest_point_wins_and_equals_go_by_the_cost_model(self):
        self.measure(out="twice M=4096 N=256 T=bf16: 6 points, best 80.00 us, 0.625 of a copy")
        lines = self.results()
        self.assertEqual([lines[0]["card"], lines[0]["driver"], lines[0]["arch"]], ["Fake GPU", "13.0", "sm_90a"])
        self.assertEqual(len(lines), 1 + 4 * (1 + 3 + 1))
        self.assertEqual({line["copy_us"] for line in lines if "us" in line}, {50.0})
        self.finish(out="the cost model's point takes")
        table = self.table()
        self.assertEqual([table["op"], table["arch"], table["card"], table["driver"]], ["twice", "sm_90a", "Fake GPU", "13.0"])
        self.assertEqual(len(table["entries"]), 2)
        first = [p for p in json.loads(self.read("plan/plan.json"))["ops"][0]["points"] if p["point"]["BM"] != 2]
        for entry in table["entries"]:  # BM=1 takes 80.5, BM=4 80: equal, so the likely faster one of the four
            like = [p for p in first if p["key"]["dtypes"] == entry["dtypes"]]
            self.assertEqual(entry["point"], like[0]["point"])
        self.measure(times="BM=1", out="")  # nothing is left to measure
        self.assertEqual(self.results(), lines)

    def test_a_clear_winner_is_taken_whatever_the_cost_model_says(self):
        for winner in ["BM1_BN256_warps2", "BM4_BN256_warps1", "BM2_BN256_warps2"]:
            self.again()
            self.measure(times=winner + "=70;BM=80")
            self.finish()
            points = {json.dumps(e["point"]) for e in self.table()["entries"]}
            self.assertEqual(points, {json.dumps({"BM": int(winner[2]), "warps": int(winner[-1])})})
            variants = [v for v in self.compile(OK) if v["facts"] == "fast" and v["params"]["BN"] == 256]
            self.assertEqual(len(variants), 3)  # f16 goes by bf16
            for v in variants:
                self.assertEqual([v["params"]["BM"], v["knobs"]["warps"]], [int(winner[2]), int(winner[-1])])

    def test_calls_of_one_key_are_weighed_together(self):
        self.measure(times="BM4_BN256_warps2=60;BM=80")
        lines = self.results()
        with open(self.path("plan/results.jsonl"), "w", encoding="utf-8") as file:
            for line in lines:  # another point is a little better at one size, and much worse at the other
                if "us" in line:
                    name = next(e for e in line["us"] if "BM2_BN256_warps2" in e) if any("BM2_BN256_warps2" in e for e in line["us"]) else None
                    if name:
                        line["us"][name] = 59.0 if "M=64" in line["call"] else 200.0
                file.write(json.dumps(line) + "\n")
        self.finish()
        self.assertEqual({json.dumps(e["point"]) for e in self.table()["entries"]}, {'{"BM": 4, "warps": 2}'})

    def test_a_wrong_point_is_left_out(self):
        self.measure(times="BM4_BN256_warps2=60;BM=80", TILEGYM_FAKE_WRONG="BM4_BN256_warps2", err="BM4_BN256_warps2_fast is left out of M=64 N=256 T=f32: ")
        self.finish()
        self.assertNotIn('{"BM": 4, "warps": 2}', {json.dumps(e["point"]) for e in self.table()["entries"]})
        self.again()
        self.measure(CHECK_FAILED, TILEGYM_FAKE_WRONG="BM", err="more than half of the points are wrong")

    def test_goes_on_where_it_was_killed(self):
        self.measure(times="BM4_BN256_warps1=70;BM=80")
        self.finish()
        wanted, table = self.results(), self.read("tuned/sm_90a/twice.json")
        for launches in [1, 7, 30, 95, 180, random.randrange(400), random.randrange(400)]:
            self.again()
            self.measure(-signal.SIGKILL, times="BM4_BN256_warps1=70;BM=80", TILEGYM_FAKE_LAUNCHES=str(launches))
            with open(self.path("plan/results.jsonl"), "a", encoding="utf-8") as file:
                file.write('{"op": "twice", "call": "M=64')  # as if killed while it wrote
            self.finish(INPUT_WRONG, err="is not measured to the end: run `tilegymc tune --measure` again, which goes on")
            self.measure(times="BM4_BN256_warps1=70;BM=80")
            self.assertEqual(self.results(), wanted)
            self.finish()
            self.assertEqual(self.read("tuned/sm_90a/twice.json"), table)

    def test_a_point_that_never_ends_or_crashes_is_left_out(self):
        fastest = "BM4_BN256_warps2=60;BM=80"
        for asked, why in [("ENDLESS", "it did not end within 0.5 s, and was killed"), ("CRASH", "it ended the process that launched it: signal 6 (Aborted)")]:
            self.again()
            self.measure(times=fastest, options=["--limit", "0.5"], err=[f"BM4_BN256_warps2_fast is left out of M={m} N=256 T={t}: {why}" for m in (64, 4096) for t in ("f32", "bf16")],
                         **{"TILEGYM_FAKE_" + asked: "BM4_BN256_warps2"})
            self.finish()
            self.assertNotIn('{"BM": 4, "warps": 2}', {json.dumps(e["point"]) for e in self.table()["entries"]})
        self.again()
        self.measure(CHECK_FAILED, options=["--limit", "0.2"], TILEGYM_FAKE_ENDLESS="BM", err="more than half of the points are wrong")
        self.measure(ENVIRONMENT_LACKS, TILEGYM_FAKE_NO_WORKER="1", err="the measuring process ends before it launches anything: exit code 7")

    def test_several_gpus_find_the_same(self):
        self.measure(times="BM4_BN256_warps1=70;BM=80")
        self.finish()
        wanted, table = self.results(), self.read("tuned/sm_90a/twice.json")
        self.again()
        self.measure(times="BM4_BN256_warps1=70;BM=80", TILEGYM_FAKE_DEVICES="3")
        as_text = lambda lines: sorted(json.dumps(line) for line in lines)
        self.assertEqual(as_text(self.results()), as_text(wanted))
        self.finish()
        self.assertEqual(self.read("tuned/sm_90a/twice.json"), table)

    def test_a_table_gives_the_same_variants_in_every_process(self):
        self.measure(times="BM4_BN256_warps1=70;BM=80")
        self.finish()
        for _ in range(2):
            variants = [v for v in self.compile(OK, err="3 tuned") if v["facts"] == "fast" and v["params"]["BN"] == 256]
            self.assertEqual([v["entry"] for v in variants], [f"twice_rows_{t}_BM4_BN256_warps1_fast" for t in ("f32", "f16", "bf16")])

    def grown(self, tune):
        """The same op with another space, built into the same folder."""
        os.makedirs(self.path("specs"), exist_ok=True)
        path = self.write("specs/twice.tile", TWICE.replace("BM in [1, 2, 4]", tune))
        self.expect(OK, "tune", path, "--build", self.path("plan"))
        return path

    def test_points_that_are_added_are_measured_alone(self):
        path = self.grown("BM in [2, 4]")
        again = lambda launches=None, code=OK: self.expect(code, "tune", path, "--measure", self.path("plan"), driver=cli.FAKE_DRIVER, environment={
            "TILEGYM_FAKE_TIMES": "BM8=60;BM=80", **({"TILEGYM_FAKE_LAUNCHES": str(launches)} if launches is not None else {})})
        again()
        before = self.results()
        path = self.grown("BM in [2, 4, 8]")
        self.expect(INPUT_WRONG, "tune", path, "--finish", self.path("plan"), err="are of another plan than")
        again(launches=20, code=-signal.SIGKILL)
        self.expect(INPUT_WRONG, "tune", path, "--finish", self.path("plan"), "-o", self.tables, err="is not measured to the end")
        again()
        added = [line for line in self.results()[1:] if line not in before]
        self.assertEqual({entry for line in added for group in ("right", "us") for entry in line.get(group, [])},
                         {f"twice_rows_{t}_BM8_BN256_warps{w}_fast" for t in ("f32", "bf16") for w in (1, 2)})
        self.expect(OK, "tune", path, "--finish", self.path("plan"), "-o", self.tables)
        self.assertEqual({entry["point"]["BM"] for entry in self.table()["entries"]}, {8})

    def test_ptxas_that_never_ends_costs_the_point(self):
        real = json.loads(cli.run("doctor", "--json").stdout)["ptxas"]
        if not real["found"]:
            self.skipTest("there is no ptxas")
        slow = self.write("ptxas", f"""#!/bin/sh
for word in "$@"; do grep -q -e BM4_BN256_warps2 -- "$word" 2>/dev/null && exec sleep 600; done
exec {real["what"].split(": ")[1].rsplit(" (", 1)[0]} "$@"
""")
        os.chmod(slow, 0o755)
        self.expect(OK, "tune", self.spec_path, "--build", self.path("plan"), "--ptxas-limit", "3", err=["left out: ", "ptxas did not finish kernel 'twice_rows_f32_BM4_BN256_warps2_fast' within 3 s"],
                    environment={"TILEGYM_PTXAS": slow, "TILEGYM_CACHE_DIR": self.path("cache")})
        entries = [point["entry"] for point in json.loads(self.read("plan/plan.json"))["ops"][0]["points"]]
        self.assertEqual(len(entries), 2 * 5)
        self.assertFalse([entry for entry in entries if "BM4_BN256_warps2" in entry])

    def test_some_dtypes_alone(self):
        plan = self.path("bf16")
        self.expect(OK, "tune", self.spec_path, "--build", plan, "--dtypes", "bf16")
        points = json.loads(self.read("bf16/plan.json"))["ops"][0]["points"]
        self.assertEqual({point["key"]["dtypes"]["T"] for point in points}, {"bf16"})
        self.expect(OK, "tune", self.spec_path, "--measure", plan, driver=cli.FAKE_DRIVER, environment={"TILEGYM_FAKE_TIMES": TIMES})
        self.assertEqual({line["call"] for line in map(json.loads, self.read("bf16/results.jsonl").splitlines()[1:])}, {"M=64 N=256 T=bf16", "M=4096 N=256 T=bf16"})
        self.expect(OK, "tune", self.spec_path, "--finish", plan, "-o", self.tables)
        self.assertEqual({entry["dtypes"]["T"] for entry in self.table()["entries"]}, {"bf16"})
        self.expect(INPUT_WRONG, "tune", self.spec_path, "--build", self.path("none"), "--dtypes", "q8", err="--dtypes: 'q8' is no dtype; expected one such as f32, f16, bf16")

    def test_bad_states(self):
        self.expect(INPUT_WRONG, "tune", "--measure", self.path("nowhere"), err="there is no plan in")
        self.expect(ENVIRONMENT_LACKS, "tune", self.spec_path, "--measure", self.path("plan"), err="tune --measure times on a GPU")
        self.finish(INPUT_WRONG, err="there are no results in")
        self.measure()
        self.measure(INPUT_WRONG, TILEGYM_FAKE_CARD="Other GPU", err='has results for the card "Fake GPU", but this is "Other GPU"')
        self.expect(INPUT_WRONG, "tune", "softmax", "--finish", self.path("plan"), err="the plan has no op 'softmax'")
        plan = self.read("plan/plan.json")
        self.write("plan/plan.json", plan.replace('"sm_90a"', '"sm_80"'))
        self.measure(ENVIRONMENT_LACKS, err="the plan is for sm_80, but this GPU is a Fake GPU (sm_90)")
        self.finish(INPUT_WRONG, err="are of another plan than")
        self.write("plan/plan.json", plan.replace('"format": 3', '"format": 7'))
        self.measure(INPUT_WRONG, err="has format 7, expected 3: build it again")
        self.write("plan/plan.json", "{")
        self.measure(INPUT_WRONG, err="is no plan of `tune --build`")
        self.write("plan/plan.json", plan)
        with open(self.path("plan/twice.tgk"), "ab") as file:
            file.write(b"x")
        self.measure(INPUT_WRONG, err="is not the package that the plan was made with")
        os.remove(self.path("plan/twice.tgk"))
        self.measure(INPUT_WRONG, err="is missing: build it again")

    def test_another_text_of_the_spec(self):
        os.mkdir(self.path("specs"))
        path = self.write("specs/twice.tile", TWICE.replace("t + t", "2 * t"))
        self.expect(INPUT_WRONG, "tune", path, "--measure", self.path("plan"), driver=cli.FAKE_DRIVER, err="was built from another text of the spec")

    def test_tables_that_are_refused(self):
        self.measure(times="BM4_BN256_warps1=70;BM=80")
        self.finish()
        self.compile(OK, err="3 tuned")
        good = self.read("tuned/sm_90a/twice.json")
        line = 1 + good[:good.index('{"kernel"')].count("\n")
        entry = '{"kernel":"rows","dtypes":{"T":"f32"},"derived":{"BN":256},"point":{"BM":4,"warps":1}}'
        self.assertIn(entry, good)
        for old, new, text in [
                ('"sm_90a"', '"sm_80"', 'this table was tuned for "sm_80", expected "sm_90a"'),
                ('"op": "twice"', '"op": "thrice"', 'for the op "thrice", expected "twice"'),
                ('"format": 1', '"format": 9', "has format 9, expected 1"),
                ('"entries"', '"entires"', "has no list of entries"),
                ("{", "", "this is no tuned table: "),
                ('"point":{"BM":4,"warps":1}', '"point":{"BM":16,"warps":1}', [f"twice.json:{line}:", 'the tuned point {"BM":16,"warps":1} is not in the space of `tune rows` any more', "retune: `tilegymc tune twice`"]),
                ('"point":{"BM":4,"warps":1}', '"point":{"BM":4}', "is not in the space of `tune rows` any more"),
                ('"kernel":"rows"', '"kernel":"columns"', [f"twice.json:{line}:", "is for the kernel 'columns', which the op does not have"]),
                ('"T":"f32"', '"T":"f33"', "has 'T' among its 'dtypes', which the op does not have"),
                ('"BN":256', '"BK":256', "has 'BK' among its 'derived', which the op does not have"),
                ('"derived"', '"derivd"', "has 'derivd', which it does not know"),
                ('"kernel":"rows",', "", "has no `kernel` or no `point`"),
                (entry, entry + ",\n    " + entry, "is for the same variants as an earlier one")]:
            self.write("tuned/sm_90a/twice.json", good.replace(old, new, 1))
            self.compile(INPUT_WRONG, err=text)
        self.write("tuned/sm_90a/twice.json", good)
        self.compile(OK, err="3 tuned")

    def test_the_table_beside_the_specs_folder_is_found(self):
        self.measure(times="BM4_BN256_warps1=70;BM=80")
        os.mkdir(self.path("specs"))
        path = self.write("specs/twice.tile", TWICE)
        self.expect(OK, "tune", path, "--finish", self.path("plan"))
        self.assertTrue(os.path.exists(self.path("kernels/tuned/sm_90a/twice.json")))
        self.expect(OK, "compile", path, "--arch", "sm_90a", "-o", self.path("out"), "--depfile", self.path("out.d"), err="3 tuned")
        self.assertIn("kernels/tuned/sm_90a/twice.json", self.read("out.d"))
        self.expect(OK, "compile", path, "--arch", "sm_90a", "--tuned", "none", "-o", self.path("out"), err="0 tuned")
        self.expect(OK, "compile", path, "--arch", "sm_80", "-o", self.path("out"), err="0 tuned")


cli.main(needs_compiler=True)
