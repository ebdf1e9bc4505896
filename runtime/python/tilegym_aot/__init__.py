# SPDX-License-Identifier: MIT
"""Kernels that tilegymc compiled ahead of time, as Python functions over torch tensors and anything else with DLPack.

    import tilegym_aot
    kernels = tilegym_aot.open("kernels/")   # what `tilegymc compile softmax -o kernels/` made
    y = kernels.softmax(x)

See docs/python.md.
"""
from . import _core, _frameworks, errors
from .errors import (BadPackage, CudaError, Error, InvalidArgument, NoDevice, NoDriver, NoImage, NoVariant, OutOfMemory, Unavailable)
from .package import Package, open

__version__ = "0.1.0"
__all__ = ["Package", "open", "ops", "use_reference", "set_backend", "current_backend", "set_early_launch", "describe", "Error", "InvalidArgument", "NoDriver", "NoDevice", "NoImage", "NoVariant", "BadPackage",
           "CudaError", "Unavailable", "OutOfMemory"]

_core.set_hooks(_frameworks, errors.make)


def use_reference(on=True):
    """From now on all calls run in the interpreter of the specs, on tensors in host memory (True), or on the GPU again (False). Gives what it was."""
    return _core.use_reference(on)


def set_backend(name):
    """Who runs the calls that name no backend: "tile" (the kernels), "reference" (the interpreter, on host memory), "vendor" (cuBLASLt,
    where the op is a product of matrices), or one that C++ registered."""
    _core.set_backend(name)


def current_backend():
    """The name of the backend that this thread's next call goes to."""
    return _core.current_backend()


def set_early_launch(on=True):
    """From now on this thread's kernels may start while the one before them in the stream ends (programmatic dependent launch), with the same results. Gives
    what it was."""
    return _core.set_early_launch(on)


def describe(package=None, json=False):
    """What there is: versions, driver, GPUs, backends; of a package its ops, and the GPUs and dtypes that it has code for. Text for people, or JSON."""
    return _core.describe(package and package._state.handle, json)


def __getattr__(name):
    if name == "ops":
        import importlib
        return importlib.import_module(".ops", __name__)
    raise AttributeError(f"module {__name__} has no attribute {name}")
