# SPDX-License-Identifier: MIT
"""The cache of compiled kernels, shared by processes, damaged, killed while it is written, and where it cannot be."""
import os
import re
import shutil
import signal
import subprocess
import time

import cli
from cli import OK

SPEC = """use helpers
op scaled(x: f32[N]) -> y: f32[N]
reference { y = twice(x) }
kernel flat(BN) {
  grid(cdiv(N, BN))
  store(y.tile(BN)[block(0)], twice(load(x.tile(BN)[block(0)])))
}
tune flat { BN in [256]; warps in [4] }
test {
  case "by hand" { N = 2; x = [1, 2]; expect y = [2, 4] }
  tolerance { f32: 0 }
}
bench none "a test"
"""
HELPERS = "fn factor() { 2.0 }\nfn twice(t) { t * factor() }\n"


class Cache(cli.CliTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("lib"))
        self.write("lib/helpers.tile", HELPERS)
        self.spec_path = self.write("scaled.tile", SPEC)
        self.environment = {"TILEGYM_CACHE_DIR": self.path("cache")}

    def compile(self, *options, code=OK, out="out", err="", **environment):
        shutil.rmtree(self.path(out), ignore_errors=True)
        self.expect(code, "compile", self.spec_path, "--arch", "sm_90a", "-o", self.path(out), *options, err=err, environment=dict(self.environment, **environment))
        return self.read(out + "/scaled.tgk", "rb") if code == OK else None

    def entries(self):
        return sorted(os.path.join(self.path("cache"), name) for name in os.listdir(self.path("cache")))

    def test_many_processes_fill_one_folder(self):
        env = dict(os.environ, TILEGYM_DRIVER="no-driver-here.so", **self.environment)
        for turn in range(3):
            started = [subprocess.Popen([cli.TOOL, "compile", self.spec_path, "--arch", "sm_90a", "-o", self.path(f"out{i}")], env=env, stderr=subprocess.PIPE, text=True) for i in range(8)]
            said = [process.communicate(timeout=240)[1] for process in started]
            self.assertEqual([process.returncode for process in started], [OK] * 8, said)
            self.assertEqual(len({self.read(f"out{i}/scaled.tgk", "rb") for i in range(8)}), 1)
            self.assertFalse([name for name in self.entries() if name.endswith(".tmp")])
            if turn == 1:
                for entry in self.entries():
                    os.remove(entry)

    def test_a_stopped_process_holds_no_other(self):
        env = dict(os.environ, TILEGYM_DRIVER="no-driver-here.so", **self.environment)
        stopped = subprocess.Popen([cli.TOOL, "compile", self.spec_path, "--arch", "sm_90a", "-o", self.path("other")], env=env, stderr=subprocess.DEVNULL)
        self.addCleanup(stopped.wait)
        self.addCleanup(stopped.kill)
        time.sleep(0.1)
        stopped.send_signal(signal.SIGSTOP)
        self.compile()  # within the time limit of any command

    def test_damaged_entries_are_made_again(self):
        good = self.compile()
        self.assertTrue(self.entries())
        for damage in [lambda data: b"", lambda data: data[: len(data) // 2], lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:], lambda data: data + b"x"]:
            for entry in self.entries():
                with open(entry, "rb") as file:
                    data = file.read()
                with open(entry, "wb") as file:
                    file.write(damage(data))
            self.assertEqual(self.compile(), good)
        self.assertIn("from the cache", cli.run("compile", self.spec_path, "--arch", "sm_90a", "-o", self.path("out"), environment=self.environment).stderr)

    def test_killed_while_it_compiles(self):
        good = self.compile("--no-cache")
        env = dict(os.environ, TILEGYM_DRIVER="no-driver-here.so", **self.environment)
        for after in [0.05, 0.1, 0.2, 0.4]:
            process = subprocess.Popen([cli.TOOL, "compile", self.spec_path, "--arch", "sm_90a", "-o", self.path("killed")], env=env, stderr=subprocess.DEVNULL)
            time.sleep(after)
            process.kill()
            process.wait()
            self.assertEqual(self.compile(), good)

    def cached(self, *options):
        said = cli.run("compile", self.spec_path, "--arch", "sm_90a", "-o", self.path("out"), *options, environment=self.environment)
        self.assertEqual(said.returncode, OK, said.stderr)
        found = re.search(r"(\d+) from the cache", said.stderr)
        return int(found.group(1)) if found else 0

    def test_what_a_kernel_depends_on_makes_it_anew(self):
        self.assertEqual(self.cached(), 0)
        all_of_them = self.cached()
        self.assertGreater(all_of_them, 0)
        self.assertEqual(self.cached("--no-cache"), 0)
        self.write("lib/helpers.tile", HELPERS.replace("2.0", "4.0 / 2.0"))
        self.assertEqual(self.cached(), 0)
        self.write("lib/helpers.tile", HELPERS.replace("t * factor()", "t + t"))
        self.assertEqual(self.cached(), 0)
        self.assertEqual(self.cached(), all_of_them)
        self.write("scaled.tile", SPEC.replace("BN in [256]", "BN in [512]"))
        self.assertEqual(self.cached(), 0)

    def test_a_folder_that_cannot_be_used(self):
        good = self.compile()
        file = self.write("a-file", "")
        for environment, why in [({"TILEGYM_CACHE_DIR": file + "/cache"}, "cannot be used: "),
                                 ({"TILEGYM_CACHE_DIR": "/proc/nothing"}, "the cache folder '/proc/nothing' cannot be used: ")]:
            self.assertEqual(self.compile(err=why, **environment), good)
        env = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "TILEGYM_CACHE_DIR")}
        done = subprocess.run([cli.TOOL, "compile", self.spec_path, "--arch", "sm_90a", "-o", self.path("out")], env=env, capture_output=True, text=True)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(done.stderr.count("there is no folder for the cache (HOME is not set); set TILEGYM_CACHE_DIR"), 1)
        self.assertEqual(self.read("out/scaled.tgk", "rb"), good)


cli.main(needs_compiler=True)
