# SPDX-License-Identifier: MIT
"""Equal inputs give equal bits: call after call, in 16 threads on two streams at once, from a CUDA graph replayed on changed inputs, and on two GPUs.

usage: repeats.py PACKAGE-FOLDER
"""
import sys
import threading

import torch

import row_ops
from tilegym_ctypes import Error, Package

SHAPES = [(1, 1), (7, 100), (64, 1024), (33, 4099), (16, 16384), (5, 50257), (8, 65536), (2, 131072), (1000, 128)]
DTYPES = (torch.float32, torch.float16, torch.bfloat16)
THREADS, CALLS, REPEATS = 16, 120, 60


def bits(tensor):
    return tensor.contiguous().view(torch.int32 if tensor.element_size() == 4 else torch.int16)


class Case:
    """One op on one shape: its arguments, and what a call of its own gave."""

    def __init__(self, package, op, rows, n, dtype):
        self.package, self.op, self.name = package, op, f"{op} {rows}x{n} {str(dtype)[6:]}"
        self.call = row_ops.make(op, rows, n, dtype)
        self.written = [name for name in package.outputs(op) if name in self.call.arguments]
        self.run(self.call.arguments)
        self.expected = [bits(self.call.arguments[name]).clone() for name in self.written]

    def fresh(self):
        """The same inputs, and outputs of its own, poisoned."""
        poisoned = {name: torch.full_like(self.call.arguments[name], float("nan")) for name in self.written}
        return {**self.call.arguments, **poisoned}

    def run(self, arguments, package=None, stream=None):
        (package or self.package).call(self.op, stream=stream, **arguments)

    def same(self, arguments):
        return all(torch.equal(bits(arguments[name]), want) for name, want in zip(self.written, self.expected))


def repeat(cases, fail):
    for case in cases:
        flush = torch.empty(1 << 26, dtype=torch.uint8, device="cuda")
        for turn in range(REPEATS):
            arguments = case.fresh()
            if turn % 3 == 0:
                flush.zero_()  # other work in between, and a cold L2
            case.run(arguments)
            if not case.same(arguments):
                fail(f"{case.name}: other bits in repeat {turn}")
                break


def at_once(folder, cases, fail):
    """Threads that have no context of their own, on two streams, and a package that has loaded nothing yet."""
    package, streams = Package(folder), [torch.cuda.Stream(), torch.cuda.Stream()]
    work = [[(case := cases[(7 * t + 3 * k) % len(cases)], case.fresh()) for k in range(CALLS)] for t in range(THREADS)]
    torch.cuda.synchronize()
    start, errors = threading.Barrier(THREADS), []

    def run(thread):
        start.wait()
        try:
            for k, (case, arguments) in enumerate(work[thread]):
                case.run(arguments, package, streams[(thread + k) % 2])
        except Exception as error:
            errors.append(f"thread {thread}: {error}")

    threads = [threading.Thread(target=run, args=(t,)) for t in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.cuda.synchronize()
    for error in errors:
        fail(error)
    for thread, calls in enumerate(work):
        for case, arguments in calls:
            if not case.same(arguments):
                return fail(f"{case.name}: other bits in thread {thread} of {THREADS}")


def replayed(folder, cases, fail):
    """Captured once behind tilegym_prepare, replayed on other inputs each time; and a call that is not prepared breaks no capture."""
    package, unprepared = Package(folder), Package(folder)
    for case in cases:
        arguments = case.fresh()
        inputs = [v for k, v in arguments.items() if isinstance(v, torch.Tensor) and k not in case.written]
        graph, refusal = torch.cuda.CUDAGraph(), None
        package.prepare(case.op, **arguments)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            try:
                case.run(arguments, unprepared)
            except Error as error:
                refusal = str(error)
            case.run(arguments, package)
        if refusal is None or "the stream is being captured, but the kernel is not loaded yet; call tilegym_prepare before the capture" not in refusal:
            fail(f"{case.name}: an unprepared call in a capture gave {refusal!r}")
        for turn in range(4):
            for name in case.written:
                arguments[name].fill_(float("nan"))
            graph.replay()
            torch.cuda.synchronize()
            eager = {**arguments, **{name: torch.full_like(arguments[name], float("nan")) for name in case.written}}
            case.run(eager)
            if not all(torch.equal(bits(arguments[name]), bits(eager[name])) for name in case.written):
                fail(f"{case.name}: other bits in replay {turn}")
            if turn == 0 and not case.same(arguments):
                fail(f"{case.name}: a replay gives other bits than a call")
            for tensor in inputs:
                tensor.copy_(torch.randn(tensor.shape, device="cuda"))
        del graph


def on_two_devices(folder, fail):
    """One package, the devices in turns; tensors on another device than the current one are refused. Needs two GPUs."""
    package, wanted = Package(folder), {}
    for turn in range(100):
        device = turn % 2
        with torch.cuda.device(device):
            x = torch.arange(5000, device="cuda", dtype=torch.float32).view(5, 1000).sin()
            y = torch.full_like(x, float("nan"))
            package.call("softmax", x=x, y=y)
            if not torch.equal(bits(y).cpu(), wanted.setdefault("softmax", bits(y).cpu())):
                fail(f"softmax on device {device}: other bits in turn {turn}")
        with torch.cuda.device(1 - device):
            try:
                package.call("softmax", x=x, y=y)
                fail(f"tensors of device {device} were taken while {1 - device} is current")
            except Error as error:
                if str(error) != f"softmax: x: lies on device {device}, but the current device is {1 - device}":
                    fail(str(error))


def main():
    package, failures, ran = Package(sys.argv[1]), [], 0
    torch.manual_seed(0)
    ops = [op for op in row_ops.OPS if op in package.ops]
    cases = [Case(package, op, rows, n, dtype) for op in ops for i, (rows, n) in enumerate(SHAPES) for dtype in DTYPES[i % 3 :][:2]
             if op != "rope" or n % 2 == 0]
    judges = [("devices", lambda fail: on_two_devices(sys.argv[1], fail))] if torch.cuda.device_count() > 1 else []
    if not judges:
        print("skipped devices: there is one GPU, and two are needed")
    for name, judge in judges + [("repeats", lambda fail: repeat(cases, fail)), ("threads", lambda fail: at_once(sys.argv[1], cases, fail)),
                        ("graphs", lambda fail: replayed(sys.argv[1], cases[::3], fail))]:
        found = []
        try:
            judge(found.append)
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
        ran += len(cases)
        failures += found
        print(f"{'FAILED' if found else 'passed'} {name}: {len(cases)} cases", *found[:5], sep="\n  " if found else " ", flush=True)
    print(f"{ran - len(failures)} passed, {len(failures)} failed")
    return len(failures) != 0


if __name__ == "__main__":
    raise SystemExit(main())
