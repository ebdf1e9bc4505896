# SPDX-License-Identifier: MIT
"""As much of NVIDIA's TileGym as a backend meets: the registry behind its public functions, and a front end that dispatches by name."""
from . import backend


def call(name, *args, backend, **keywords):
    from .backend.dispatcher import _REGISTRY
    return _REGISTRY[name][backend](*args, **keywords)
