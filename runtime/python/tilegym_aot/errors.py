# SPDX-License-Identifier: MIT
"""What a call that fails raises: one class a status of the C interface (tilegym.h), with the runtime's own text."""


class Error(RuntimeError):
    """A call failed; `status` is the C interface's number of it."""
    status = 0


class InvalidArgument(Error, ValueError):
    """The call is wrong: shape, stride, dtype, alignment, overlap, device."""
    status = 1


class NoDriver(Error):
    """There is no CUDA driver, or one that is too old."""
    status = 2


class NoDevice(Error):
    """There is no GPU, or no context could be made on it."""
    status = 3


class NoImage(Error):
    """The package holds no code for this GPU."""
    status = 4


class NoVariant(Error, NotImplementedError):
    """The package lacks the variant (dtypes, consts) that the call needs."""
    status = 5


class BadPackage(Error):
    """The package is truncated, altered, or of another version."""
    status = 6


class CudaError(Error):
    """The driver refused something."""
    status = 7


class Unavailable(Error, NotImplementedError):
    """The backend in use cannot run this."""
    status = 8


class OutOfMemory(Error, MemoryError):
    """The host has no memory left."""
    status = 9


_CLASSES = {c.status: c for c in Error.__subclasses__()}


def make(status, text):
    """The exception for a status: called by the extension."""
    error = _CLASSES.get(status, Error)(text)
    error.status = status
    return error
