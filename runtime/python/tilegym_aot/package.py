# SPDX-License-Identifier: MIT
"""An open kernel package and its ops as functions."""
import builtins
import json
import os
import threading

from . import _core, _dynamo, errors
from .interface import Op

_CALL, _PREPARE, _EXPLAIN = range(3)


def open(path, check=True):
    """Opens a package: the folder that `tilegymc compile -o` made, or, with interface.json beside it, a .tgk file or a shared library that the package is
    linked into. Nothing is loaded to a GPU before an op's first call. `check=False` leaves out the comparison of the two files, which reads the package once more."""
    return Package(path, check)


class _State:
    """What an op's function needs of its package, for as long as there is one. It does not know the functions: they go through C, where no collector of
    cycles would see the way back."""

    def __init__(self, path, check):
        path = os.fspath(path)
        folder = path if os.path.isdir(path) else os.path.dirname(path)
        with _text(os.path.join(folder, "interface.json")) as file:
            interface = json.load(file)
        self.path = os.path.join(folder, interface["package"] + ".tgk") if os.path.isdir(path) else path
        self.name = interface["package"]
        is_library = not self.path.endswith(".tgk")
        self.handle = _core.open_library(self.path, self.name) if is_library else _core.open_file(self.path)
        names = _core.op_names(self.handle)
        if check and (names != [op["name"] for op in interface["ops"]] or not is_library and _checksum(self.path) != interface["hash"]):
            raise errors.BadPackage(f"{self.path} is not the package that {os.path.join(folder, 'interface.json')} was written with")
        self.interfaces = {op["name"]: Op(op, number) for number, op in enumerate(interface["ops"])}
        for op in self.interfaces.values():
            if op.product:
                _offer(self.handle, op, self.path if is_library else None)
        self.lock = threading.RLock()
        self._torch = None

    def function(self, name, action=_CALL, redirect=None):
        """A new function of an op; without `redirect` it never goes through torch."""
        op = self.interfaces[name]
        doc = f"{name}({', '.join(op.parameters())})\n--\n\n{op.documentation()}"
        output = op.arguments.index(op.out) if op.out else -1
        return _core.make_function(self.handle, op.number, name, doc, op.core_arguments(), output, redirect, action)

    @property
    def torch_ops(self):
        with self.lock:
            if self._torch is None:
                from .torch_ops import TorchOps
                self._torch = TorchOps(self.name, self.interfaces, self.function)
            return self._torch


class Package:
    """Its ops are attributes: `package.softmax(x)`; `ops` lists them. Functions keep the package open; it is closed when nothing refers to it."""

    def __init__(self, path, check=True):
        self._state = _State(path, check)
        self.path, self.name, self.interfaces = self._state.path, self._state.name, self._state.interfaces
        _dynamo.watch(self)

    @property
    def ops(self):
        """The names of the package's ops."""
        return list(self.interfaces)

    def __dir__(self):
        return [*super().__dir__(), *self.interfaces]

    def __getattr__(self, name):
        if name.startswith("_") or name not in self.__dict__.get("interfaces", ()):
            raise AttributeError(f"package {self.__dict__.get('name')} has no op {name}; it has {', '.join(self.__dict__.get('interfaces', ()))}")
        return self.__dict__.setdefault(name, self._state.function(name, redirect=None if self.interfaces[name].has_lists else _Redirect(self._state, name)))

    def __repr__(self):
        return f"<tilegym_aot.Package {self.name}: {', '.join(self.interfaces)}>"

    def prepare(self, name, *args, **keywords):
        """Loads what this call of the op would need, so that the call itself can be captured into a CUDA graph."""
        self._state.function(name, _PREPARE)(*args, **keywords)

    def explain(self, name, *args, **keywords):
        """Which variant the call would take, as text."""
        return self._state.function(name, _EXPLAIN)(*args, **keywords)

    @property
    def torch_ops(self):
        """The ops as torch custom ops (torch_ops.py); made when they are first asked for."""
        return self._state.torch_ops


_offered = set()


def _offer(handle, op, library):
    """Registers the op for the backend `vendor`, once in each runtime: the extension's, or that of a library."""
    product = tuple(op.product)
    if (library, op.name, product) not in _offered:
        _core.add_vendor(handle, op.name, product)
        _offered.add((library, op.name, product))


class _Redirect:
    """Torch's dispatch of an op, made when a call first needs it."""

    def __init__(self, state, name):
        self.state, self.name = state, name

    def __call__(self, *args, **keywords):
        return self.state.torch_ops.functions[self.name](*args, **keywords)


def _text(path):
    try:
        return builtins.open(path, encoding="utf-8")
    except FileNotFoundError:
        raise errors.BadPackage(f"{path} is missing; `tilegymc compile -o FOLDER` writes it beside the package") from None


def _checksum(path):
    with builtins.open(path, "rb") as file:
        return _core.checksum(file.read())
