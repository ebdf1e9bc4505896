# SPDX-License-Identifier: MIT
"""The ops of the default package as functions of this module: the package that TILEGYM_PACKAGE names (a folder or a .tgk file), else `kernels/` beside this
file, if it was installed with one."""
import os

_package = None


def package():
    """The default package, opened when it is first asked for."""
    global _package
    if _package is None:
        from .package import open
        path = os.environ.get("TILEGYM_PACKAGE") or os.path.join(os.path.dirname(__file__), "kernels")
        if not os.path.exists(path):
            raise FileNotFoundError("no kernel package: set TILEGYM_PACKAGE to the folder that `tilegymc compile -o FOLDER` made")
        _package = open(path)
    return _package


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    function = globals()[name] = getattr(package(), name)
    return function


def __dir__():
    return ["package", *package().ops]
