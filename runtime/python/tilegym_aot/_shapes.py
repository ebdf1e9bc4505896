# SPDX-License-Identifier: MIT
"""Shapes of outputs from shapes of inputs, for torch.compile, where extents may be symbols: the runtime works them out from numbers, and from the same text."""
import functools


def cdiv(a, b):
    return -(-a // b)


def pow2ceil(n):
    return 1 << max(int(n) - 1, 0).bit_length()


_FUNCTIONS = {"__builtins__": {}, "cdiv": cdiv, "pow2ceil": pow2ceil, "min": min, "max": max, "abs": abs}


@functools.lru_cache(maxsize=None)
def _code(text):
    return compile(text, f"<shape {text}>", "eval")


def of(op, output, args):
    """The output's extents; `args` are the inputs in order."""
    names = dict(_FUNCTIONS)
    for a, value in zip(op.inputs, args):
        if a.is_tensor and value is not None:
            _bind(a, value.shape, names)
        elif not a.is_tensor:
            names[a.name] = value
    shape = []
    for dim in output.shape:
        if dim.startswith("*"):
            shape.extend(names[dim[1:]])
        else:
            shape.append(eval(_code(dim.removesuffix("|1")), names))  # of the spec, not of the caller
    return shape


def _bind(argument, shape, names):
    group = next((i for i, dim in enumerate(argument.shape) if dim.startswith("*")), None)
    extra = len(shape) - len(argument.shape)
    if extra and group is None or extra < -1:
        raise ValueError(f"{argument.name} has {len(shape)} axes, expected {argument.type_text}")
    axis = 0
    for dim in argument.shape:
        if dim.startswith("*"):
            names.setdefault(dim[1:], tuple(shape[axis:axis + extra + 1]))
            axis += extra + 1
            continue
        name = dim.removesuffix("|1")
        if name.isidentifier() and (name == dim or shape[axis] != 1):
            names.setdefault(name, shape[axis])
        axis += 1
