# SPDX-License-Identifier: MIT
"""What TileGym's backends import."""
from .dispatcher import register_impl

_AVAILABLE = {"triton"}


def get_available_backends():
    return _AVAILABLE
