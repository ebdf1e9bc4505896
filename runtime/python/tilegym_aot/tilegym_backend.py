# SPDX-License-Identifier: MIT
"""Importing this module makes tilegymc a backend of NVIDIA's TileGym: each name that a spec of the default package `serves` is registered under it.

    import tilegym_aot.tilegym_backend
    tilegym.ops.softmax(x, backend="tilegymc")     # or tilegym.set_backend("tilegymc")
"""
import importlib.util
import os

BACKEND = "tilegymc"


def _has_cutile():
    try:
        return importlib.util.find_spec("cuda.tile") is not None
    except ModuleNotFoundError:
        return False


if not _has_cutile():
    # TileGym's own default is cuTile, and without it importing TileGym fails where nothing else is named.
    os.environ.setdefault("CUTILE_TUTORIALS_BACKEND", "triton")

import tilegym  # noqa: E402
import tilegym.backend  # noqa: E402

from . import ops  # noqa: E402
from ._adapters import Served  # noqa: E402


def register(package):
    """Registers what the specs of `package` serve, in place of what was registered under the same names before. Gives the names."""
    names = []
    for op in package.interfaces.values():
        for line in op.serves:
            served = Served(op, line, getattr(package, op.name))
            tilegym.backend.register_impl(served.name, backend=BACKEND)(served.adapter())
            names.append(served.name)
    for name, make in _FACTORIES.items():
        if _SERVED_BY[name] in names:
            tilegym.backend.register_impl(name, backend=BACKEND)(make)
            names.append(name)
    tilegym.backend.get_available_backends().add(BACKEND)
    return names


# What no `serves` line can say: TileGym's factories of modules and functions, over the names that are registered.

def _implementation(name):
    from tilegym.backend.dispatcher import _REGISTRY
    return _REGISTRY[name][BACKEND]


def get_apply_rope_func(model="llama"):
    """The rotation with the arguments of a model's own function. Its part of a head that turns follows from the cosine's columns."""
    if model not in ("llama", "qwen2", "gemma3", "qwen3_5"):
        raise NotImplementedError(f"get_apply_rope_func: backend {BACKEND} has no rotation for {model!r}, expected llama, qwen2, gemma3 or qwen3_5")
    return _implementation("apply_rope_base")


def get_rms_norm_module(model="llama"):
    """A module class; gemma3's weight counts from 1 and starts at 0."""
    import torch
    if model not in ("llama", "gemma3"):
        raise NotImplementedError(f"get_rms_norm_module: backend {BACKEND} has no module for {model!r}, expected llama or gemma3")
    from_one = 1.0 if model == "gemma3" else 0.0

    class RMSNorm(torch.nn.Module):
        def __init__(self, hidden_size, eps=1e-6, dtype=None, device=None):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.full((hidden_size,), 1.0 - from_one, dtype=dtype, device=device))
            self.variance_epsilon = eps

        def forward(self, hidden_states):
            return _implementation("rms_norm")(hidden_states, None, self.weight, self.variance_epsilon, offset=from_one)

        def extra_repr(self):
            return f"{tuple(self.weight.shape)}, eps={self.variance_epsilon}"

    return RMSNorm


_FACTORIES = {"get_apply_rope_func": get_apply_rope_func, "get_rms_norm_module": get_rms_norm_module}
_SERVED_BY = {"get_apply_rope_func": "apply_rope_base", "get_rms_norm_module": "rms_norm"}

names = register(ops.package())
