# SPDX-License-Identifier: MIT
"""Views that programs make of their memory: each is right, judged by the op on a packed copy, or refused in words. usage: views.py PACKAGE-FOLDER

Buffers are filled with NaN where no view lies, and inputs and all that lies around outputs must be as before.
"""
import sys

import torch

import row_ops
from smoke import TOLERANCE
from tilegym_ctypes import Error, Package, strided

ROWS, N = 12, 96
MAIN = {"silu_and_mul": "input", "rope": "q"}


class Judge:
    def __init__(self, package, op, dtype):
        self.package, self.op, self.dtype = package, op, dtype
        self.passed, self.failures = 0, []
        self.main, self.out = MAIN.get(op, "x"), [o for o in package.outputs(op)][0]

    def make(self):
        return row_ops.make(self.op, ROWS, N, self.dtype).arguments

    def reshaped(self, lead):
        """Arguments whose rows have these leading axes."""
        split = lambda t: t.unflatten(0, lead) if torch.is_tensor(t) and t.dim() > 1 else t
        return {name: split(value) for name, value in self.make().items()}

    def note(self, what, wrong):
        self.passed += wrong is None
        if wrong is not None:
            self.failures.append(f"{self.op} {str(self.dtype)[6:]}, {what}: {wrong}")

    def call(self, arguments):
        self.package.call(self.op, **arguments)
        torch.cuda.synchronize()

    def near(self, got, want):
        got, want = got.double(), want.double()
        bad = ~((got - want).abs() <= 2 * TOLERANCE[self.dtype] * (want.abs() + want.square().mean(-1, keepdim=True).sqrt()))
        return None if not bad.any() else f"{int(bad.sum())} of {bad.numel()} wrong, first at {bad.nonzero()[0].tolist()}"

    def reads(self, what, x, same_as, arguments=None):
        """An input viewed as `x` gives what its packed copy `same_as` gives."""
        arguments = arguments or self.make()
        try:
            before = same_as.clone()
            self.call({**arguments, self.main: same_as.contiguous()})
            want = arguments[self.out].clone()
            arguments[self.out].fill_(float("nan"))
            self.call({**arguments, self.main: x})
            wrong = self.near(arguments[self.out], want)
            if wrong is None and not torch.equal(before, same_as):
                wrong = "the input was written"
        except Error as error:
            wrong = str(error)
        self.note(what, wrong)

    def writes(self, what, place, arguments=None):
        """`place(buffer, out)` makes a view like `out` in the middle of a buffer, and what of the buffer it is; the rest stays."""
        arguments = arguments or self.make()
        try:
            self.call(arguments)
            want = arguments[self.out].clone()
            buffer = torch.full((8 * want.numel() + 4096,), 7.0, device="cuda", dtype=self.dtype)
            view, seen = place(buffer, want)
            self.call({**arguments, self.out: view})
            wrong = self.near(seen, want)
            seen.fill_(7.0)
            if wrong is None and not bool((buffer == 7.0).all()):
                wrong = "memory around the output was written"
        except Error as error:
            wrong = str(error)
        self.note(what, wrong)

    def refuses(self, what, words, **changes):
        arguments = self.make()
        out = arguments[self.out]
        try:
            self.call({**arguments, **changes})
            wrong = f"it ran; expected an error with {words!r}"
        except Error as error:
            wrong = None if words in str(error) and str(error).startswith(self.op + ": ") else f"{error}; expected {words!r}"
        if wrong is None and not bool(torch.isnan(out).all()):
            wrong = "the output was written"
        self.note("refused: " + what, wrong)


def readings(judge):
    x = judge.make()[judge.main]
    width, size = x.shape[-1], x.element_size()
    line = torch.full((4096,), float("nan"), device="cuda", dtype=judge.dtype)
    line[:width].copy_(torch.randn(width, device="cuda"))
    judge.reads("every row the same one, stride 0", line[:width].expand(x.shape), line[:width].expand(x.shape))
    judge.reads("every element the same one", line[:1].expand(x.shape), line[:1].expand(x.shape))
    padded = torch.full((*x.shape[:-1], width + 5), float("nan"), device="cuda", dtype=judge.dtype)
    padded[..., :width].copy_(x)
    judge.reads("rows with NaN between them", padded[..., :width], x)
    judge.reads("transposed", x.transpose(-1, -2).contiguous().transpose(-1, -2), x)
    wide = torch.full((*x.shape[:-1], 2 * width), float("nan"), device="cuda", dtype=judge.dtype)
    wide[..., ::2].copy_(x)
    judge.reads("every second element, NaN between", wide[..., ::2], x)
    strides = x.stride()
    end = x.data_ptr() + size * (x.numel() - 1)
    judge.reads("backwards, all strides negative", strided(end, x.shape, [-s for s in strides], judge.dtype), x.flip(list(range(x.dim()))))
    judge.reads("rows backwards", strided(x.data_ptr() + size * (x.shape[-2] - 1) * strides[-2], x.shape, [*strides[:-2], -strides[-2], strides[-1]],
                                          judge.dtype), x.flip(-2))
    off = torch.full((x.numel() + 1,), float("nan"), device="cuda", dtype=judge.dtype)
    off[1:].view(x.shape).copy_(x)
    judge.reads("a base that is one element off", off[1:].view(x.shape), x)
    if judge.op == "rope":
        return
    one = row_ops.make(judge.op, 1, N, judge.dtype).arguments
    row = one[judge.main]
    judge.reads("one row, whose stride means nothing", strided(row.data_ptr(), row.shape, [999, 1], judge.dtype), row, one)
    swapped = judge.reshaped((3, 4))
    like = swapped[judge.main]
    judge.reads("two leading axes swapped", like.transpose(0, 1).contiguous().transpose(0, 1), like, swapped)


def side_operands(judge):
    """Weights, biases and angles are looked at as the main operand is."""
    for name, value in judge.make().items():
        if not torch.is_tensor(value) or name == judge.main or name in judge.package.outputs(judge.op):
            continue
        wide = torch.full((*value.shape[:-1], 2 * value.shape[-1]), float("nan"), device="cuda", dtype=judge.dtype)
        wide[..., ::2].copy_(value)
        off = torch.full((value.numel() + 1,), float("nan"), device="cuda", dtype=judge.dtype)
        off[1:].copy_(value.flatten())
        end = value.data_ptr() + value.element_size() * (value.numel() - 1)
        for what, view, same_as in (("every second element", wide[..., ::2], value), ("one element off", off[1:].view(value.shape), value),
                                    ("one element for all", value.flatten()[:1].expand(value.shape), value.flatten()[:1].expand(value.shape)),
                                    ("backwards", strided(end, value.shape, [-s for s in value.stride()], judge.dtype), value.flip(list(range(value.dim()))))):
            arguments = judge.make()
            judge.call({**arguments, name: same_as.contiguous()})
            want = arguments[judge.out].clone()
            arguments[judge.out].fill_(float("nan"))
            judge.call({**arguments, name: view})
            judge.note(f"{name}, {what}", judge.near(arguments[judge.out], want))
        judge.refuses(f"{name} one too short", "axis ", **{name: value[..., :-1]})
        judge.refuses(f"{name} of another dtype", "has dtype f64", **{name: value.double()})


def writings(judge):
    size = torch.empty((), dtype=judge.dtype).element_size()

    def centred(strides_of, flip=()):
        def place(buffer, out):
            strides = strides_of(out)
            seen = buffer[2048:].as_strided(out.shape, strides)
            at = buffer.data_ptr() + size * (2048 + sum((out.shape[d] - 1) * strides[d] for d in flip))
            return strided(at, out.shape, [-s if d in flip else s for d, s in enumerate(strides)], judge.dtype), seen.flip(flip) if flip else seen
        return place

    packed = lambda out: out.stride()
    judge.writes("in the middle of a buffer", centred(packed))
    judge.writes("rows apart", centred(lambda out: [*(s // out.shape[-1] * (out.shape[-1] + 3) for s in out.stride()[:-1]), 1]))
    judge.writes("every second element", centred(lambda out: [2 * s for s in out.stride()]))
    judge.writes("one element off", lambda buffer, out: ((v := buffer[2049 : 2049 + out.numel()].view(out.shape)), v))
    if judge.op != "rope":
        for lead in ((2, 6), (2, 3, 2), (2, 3, 2, 1)):
            judge.writes(f"rank {len(lead) + 1}", centred(packed), judge.reshaped(lead))


def backwards(judge):
    """An output written backwards is the one written forwards, turned."""
    arguments = judge.make()
    judge.call(arguments)
    want, out = arguments[judge.out].clone(), arguments[judge.out]
    out.fill_(float("nan"))
    view = strided(out.data_ptr() + out.element_size() * (out.numel() - 1), out.shape, [-s for s in out.stride()], judge.dtype)
    judge.call({**arguments, judge.out: view})
    judge.note("written backwards", judge.near(out.flip(list(range(out.dim()))), want))


def refusals(judge):
    arguments = judge.make()
    x, out = arguments[judge.main], arguments[judge.out]
    zero = lambda t, axis: [0 if d == axis else s for d, s in enumerate(t.stride())]
    share = "is written, but its strides let several indices share an element"
    judge.refuses("an output of one row", share, **{judge.out: strided(out.data_ptr(), out.shape, zero(out, out.dim() - 2), judge.dtype)})
    judge.refuses("an output of one column", share, **{judge.out: strided(out.data_ptr(), out.shape, zero(out, out.dim() - 1), judge.dtype)})
    shares = "is written, but shares memory with " + judge.main
    judge.refuses("an output over part of an input", shares,
                  **{judge.main: x, judge.out: strided(x.data_ptr() + 32, out.shape, out.stride(), judge.dtype)})
    judge.refuses("half an element off", f"is not a multiple of its element's {x.element_size()} bytes",
                  **{judge.main: strided(x.data_ptr() + 1, x.shape, x.stride(), judge.dtype)})
    judge.refuses("memory of the host", "is not an address of the GPU's memory; expected device memory", **{judge.main: torch.zeros(x.shape, dtype=judge.dtype)})
    judge.refuses("null", f"data is null, but it has {x.numel()} elements", **{judge.main: strided(None, x.shape, x.stride(), judge.dtype)})
    judge.refuses("another dtype", "has dtype f64, expected one of f32, f16, bf16", **{judge.main: x.double()})
    judge.refuses("another rank", "has rank 0, expected", **{judge.main: x.flatten()[0]})
    judge.refuses("another extent", "axis ", **{judge.out: out[..., :-1]})
    judge.refuses("beyond the address space", "reaches beyond the address space",
                  **{judge.main: strided(x.data_ptr(), x.shape, [*x.stride()[:-1], 1 << 59], judge.dtype)})


def empty(judge):
    for rows, n in ((0, N), (ROWS, 0)):
        try:
            arguments = row_ops.make(judge.op, rows, n, judge.dtype).arguments
            judge.call(arguments)
            judge.note(f"{rows} rows of {n}", None)
        except Error as error:
            judge.note(f"{rows} rows of {n}", str(error))


def in_place(judge):
    """Where the spec declares it: the same view gives the same; anything else is refused."""
    arguments = judge.make()
    judge.call(arguments)
    want = arguments[judge.out].clone()
    judge.call({**arguments, judge.out: arguments[judge.main]})
    judge.note("in place", judge.near(arguments[judge.main], want))


def main():
    package = Package(sys.argv[1])
    torch.manual_seed(0)
    passed, failures = 0, []
    for op in (op for op in row_ops.OPS if op in package.ops):
        for dtype in TOLERANCE:
            judge = Judge(package, op, dtype)
            for part in (readings, side_operands, writings, backwards, refusals, empty) + ((in_place,) if op in ("dropout", "rope") else ()):
                if op == "rope" and part is empty:
                    continue  # zero heads are no shape of row_ops
                try:
                    part(judge)
                except Exception as error:  # the other parts are still to be judged
                    judge.failures.append(f"{op} {str(dtype)[6:]}, {part.__name__}: {type(error).__name__}: {error}")
            passed, failures = passed + judge.passed, failures + judge.failures
    # More rows than a grid's second and third axes have blocks.
    for rows in (65535, 65536, 70000, 1 << 20):
        call = row_ops.make("softmax", rows, 4, torch.float32)
        package.call("softmax", **call.arguments)
        (output, exact), = call.outputs
        right = bool(((output.double() - exact(slice(rows))).abs() <= 1e-5).all())
        passed += right
        failures += [] if right else [f"softmax of {rows} rows of 4"]
    for failure in failures[:40]:
        print("FAILED", failure)
    print(f"{passed} passed, {len(failures)} failed")
    return len(failures) != 0


if __name__ == "__main__":
    raise SystemExit(main())
