# SPDX-License-Identifier: MIT
# lit's settings for the pass tests: .mlir and .test files, tools found on PATH, features for what a test may require.
import os
import shutil

import lit.formats

config.name = "ir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.test_source_root = os.path.dirname(__file__)

path = config.tilegym_bin_dirs + [config.llvm_tools_dir, config.environment.get("PATH", "")]
cuda = os.environ.get("CUDA_HOME")
if cuda:
    config.environment["CUDA_HOME"] = cuda
    path.insert(2, os.path.join(cuda, "bin"))
config.environment["PATH"] = os.pathsep.join(path)
# `REQUIRES: ptxas` for tests that assemble what they print.
if shutil.which("ptxas", path=config.environment["PATH"]):
    config.available_features.add("ptxas")
