# SPDX-License-Identifier: MIT
"""The tools of others that compiling needs: absent, old, hanging or no tools at all; and that nothing is fetched from anywhere."""
import json
import math
import os
import subprocess
import sys

import cli
from cli import INPUT_WRONG, OK

NO_NETWORK = sys.argv[4]
FUNCTIONS = ["exp", "tanh", "erf", "pow", "sin", "cos"]
SPEC = """op curves(x: f32[N]) -> y: f32[N]
reference { y = VALUE }
kernel flat(BN) {
  grid(cdiv(N, BN))
  let t = load(x.tile(BN)[block(0)])
  store(y.tile(BN)[block(0)], TILE)
}
tune flat { BN in [256]; warps in [4] }
test {
  case "of one" { N = 1; x = [1]; expect y = [RESULT] }
  case "some" { N = 300; x = uniform(0.5, 1) }
  tolerance { f32: (1e-5, 1e-5) }
}
bench none "a test"
"""


def curves():
    value = " + ".join(f"{name}(x, 1.5)" if name == "pow" else f"{name}(x)" for name in FUNCTIONS)
    of_one = math.exp(1) + math.tanh(1) + math.erf(1) + 1 + math.sin(1) + math.cos(1)
    return SPEC.replace("VALUE", value).replace("TILE", value.replace("(x", "(t")).replace("RESULT", repr(of_one))


class Toolchain(cli.CliTest):
    def setUp(self):
        super().setUp()
        found = json.loads(cli.run("doctor", "--json").stdout)
        if not found["ptxas"]["found"]:
            self.skipTest("there is no ptxas")
        self.ptxas = found["ptxas"]["what"].split(": ", 1)[1].rsplit(" (", 1)[0]
        self.libdevice = found["libdevice"]["what"].split(" (")[0]
        self.spec_path = self.write("curves.tile", curves())

    def compile(self, code, *options, environment=None, **expected):
        done = self.expect(code, "compile", self.spec_path, "--arch", "sm_90a", "--no-cache", "-o", self.path("out"), *options, environment=environment, **expected)
        if code != OK:
            self.assertFalse(os.path.exists(self.path("out")), "something of the output was left")
        return done

    def tool(self, text):
        path = self.write("ptxas", "#!/bin/sh\n" + text)
        os.chmod(path, 0o755)
        return path

    def test_a_ptxas_that_is_none(self):
        plain = self.write("plain", "no program")
        cases = [
            ("/no/ptxas", "no ptxas at '/no/ptxas' (from TILEGYM_PTXAS)"),
            ("", "TILEGYM_PTXAS is set to nothing, so no ptxas is used"),
            (plain, f"'{plain}' (from TILEGYM_PTXAS) is not an executable file; set TILEGYM_PTXAS to a ptxas of CUDA 13.0 or later"),
            (self.tool("echo hello"), f"'{self.path('ptxas')}' (from TILEGYM_PTXAS) does not answer to --version as ptxas does; set TILEGYM_PTXAS to a ptxas of CUDA 13.0 or later"),
        ]
        for path, error in cases:
            self.compile(INPUT_WRONG, "--require-ptxas", environment={"TILEGYM_PTXAS": path}, err=error)
            self.expect(OK, "doctor", environment={"TILEGYM_PTXAS": path}, out=error)

    def test_an_old_ptxas(self):
        old = self.tool("echo 'Cuda compilation tools, release 12.4, V12.4.131'")
        error = f"ptxas at '{old}' (from TILEGYM_PTXAS) is 12.4.131, but 13.0 or later is needed; set TILEGYM_PTXAS to one"
        self.compile(INPUT_WRONG, "--require-ptxas", environment={"TILEGYM_PTXAS": old}, err=error)
        # Unless it must be there, the package holds PTX alone, and that is said.
        self.compile(OK, environment={"TILEGYM_PTXAS": old}, err=[error, "PTX"])

    def test_a_ptxas_that_hangs(self):
        error = "does not answer to --version as ptxas does: Child timed out"
        self.compile(INPUT_WRONG, "--require-ptxas", environment={"TILEGYM_PTXAS": self.tool("exec sleep 600")}, err=error)

    def test_the_ptxas_that_is_named_goes_before_one_on_the_path(self):
        os.mkdir(self.path("bin"))
        os.rename(self.tool("echo hello"), self.path("bin/ptxas"))
        path = self.path("bin") + os.pathsep + os.environ["PATH"]
        self.compile(OK, "--require-ptxas", environment={"PATH": path, "TILEGYM_PTXAS": self.ptxas})

    def test_functions_need_ptxas_and_libdevice_alone(self):
        # No toolkit, nothing on the path.
        tools = {"TILEGYM_PTXAS": self.ptxas, "TILEGYM_LIBDEVICE": self.libdevice, "CUDA_HOME": "", "CUDA_PATH": "", "PATH": ""}
        self.compile(OK, "--require-ptxas", environment=tools)
        os.rename(self.path("out"), self.path("first"))
        self.compile(INPUT_WRONG, "--require-ptxas", environment=dict(tools, TILEGYM_LIBDEVICE="/no/libdevice.bc"),
                     err="no libdevice at '/no/libdevice.bc' (from TILEGYM_LIBDEVICE)")

    def test_nothing_opens_a_connection(self):
        alone = {"LD_PRELOAD": NO_NETWORK}
        tried = subprocess.run([sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"], env=dict(os.environ, **alone), capture_output=True, text=True)
        self.assertEqual((tried.returncode, tried.stderr), (99, "a connection was tried: getaddrinfo()\n"))
        self.compile(OK, "--require-ptxas", environment=alone)
        self.expect(OK, "check", self.spec_path, environment=alone)
        self.expect(OK, "list", environment=alone)
        self.expect(OK, "doctor", environment=alone)


cli.main(needs_compiler=True)
