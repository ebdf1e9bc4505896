# SPDX-License-Identifier: MIT
"""Gradients that are calls of the op itself, for which no op of their own is needed. A spec's `gradient of` comes before these.

A formula has the op, which inputs need a gradient, the gradients of the outputs, and the inputs; it gives the gradients of the first inputs."""


def _product(run, needs, grads, a, b, *rest):
    (dc,) = grads
    return (run(dc, b.mT, *rest) if needs[0] else None, run(a.mT, dc, *rest) if needs[1] else None)


def _linear(run, needs, grads, x, w, bias, activation):
    if activation != "none":
        raise NotImplementedError(f"linear has no gradient with activation {activation!r}")
    (dy,) = grads
    rows, rows_of_x = dy.reshape(-1, dy.shape[-1]), x.reshape(-1, x.shape[-1])
    return (run(dy, w.mT, None, "none") if needs[0] else None, run(rows.mT, rows_of_x.mT, None, "none") if needs[1] else None,
            rows.sum(0) if bias is not None and needs[2] else None)


def _rope(run, needs, grads, q, k, cosine, sine):
    """A rotation's gradient is the rotation back. Its matrix transposed has the two halves of the sine swapped, and negated."""
    if needs[2] or needs[3]:
        raise NotImplementedError("rope has no gradient for its cosine and sine")
    half = sine.shape[-1] // 2
    return run(*[g if g is not None else t.new_zeros(t.shape) for g, t in zip(grads, (q, k))], cosine,
               -sine.roll(half, -1))


FORMULAS = {"matmul": _product, "bmm": _product, "linear": _linear, "rope": _rope}
_INPUTS = {"matmul": ["a", "b"], "bmm": ["a", "b"], "linear": ["x", "w", "bias", "activation"], "rope": ["q", "k", "cosine", "sine"]}


def fits(op, formula):
    """Whether the op is the one that the formula was written for, and not another of its name."""
    names = _INPUTS[op.name]
    return [a.name for a in op.inputs][:len(names)] == names and not any(a.optional for a in op.outputs)
