# SPDX-License-Identifier: MIT
"""Tells torch.compile what an op's function is, so that it traces the custom op in its place. Importing torch._dynamo takes seconds, so nothing is done before
a program imports it."""
import importlib.abc
import importlib.util
import sys
import weakref

_MODULE = "torch._dynamo"
_packages = weakref.WeakSet()


def watch(package):
    _packages.add(package)
    if _MODULE in sys.modules and not getattr(sys.modules[_MODULE].__spec__, "_initializing", False):
        _register(package)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _register(package):
    import torch
    for name in package.ops:
        if package.interfaces[name].has_lists:  # which torch's dispatch does not know: compiled code leaves its graph for the call
            continue
        # Eager functions are C; their signatures say `stream`, which compiled code has no use for.
        torch.compiler.substitute_in_graph(getattr(package, name), skip_signature_check=True)(package.torch_ops.functions[name])


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands before the others until torch._dynamo is imported, and goes on after it was."""

    def find_spec(self, name, path, target=None):
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            self.loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        for package in list(_packages):
            _register(package)
