# SPDX-License-Identifier: MIT
"""The registry, by name and backend."""
_REGISTRY = {}


def register_impl(name, backend):
    def decorator(function):
        _REGISTRY.setdefault(name, {})[backend] = function
        return function
    return decorator
