# SPDX-License-Identifier: MIT
"""What the package's tests share: an install prefix that was moved after it was made, and commands that must succeed."""
import argparse
import os
import subprocess
import sys
import tempfile


def run(*command, expect=0, cwd=None, env=None):
    done = subprocess.run(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=None if env is None else {**os.environ, **env})
    if done.returncode != expect:
        sys.exit(f"{' '.join(command)}\nended with {done.returncode}, expected {expect}:\n{done.stdout}")
    return done.stdout


def check(condition, text):
    if not condition:
        sys.exit(f"package: {text}")


def options():
    parser = argparse.ArgumentParser()
    for option in ("build", "source", "cmake", "generator", "cxx"):
        parser.add_argument("--" + option, required=True)
    return parser.parse_args()


def folder():
    return tempfile.TemporaryDirectory()


def install(opts, where, name="moved"):
    """The prefix's path: `name` in the folder, where it was not installed to."""
    run(opts.cmake, "--install", opts.build, "--prefix", where + "/first")
    os.rename(where + "/first", where + "/" + name)
    return where + "/" + name


def configure(opts, source, build, prefix, *more):
    return run(opts.cmake, "-S", source, "-B", build, "-G", opts.generator, "-DCMAKE_BUILD_TYPE=Release",
               "-DCMAKE_CXX_COMPILER=" + opts.cxx, "-DCMAKE_PREFIX_PATH=" + prefix, *more)
