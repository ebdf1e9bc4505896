# SPDX-License-Identifier: MIT
"""The Python package on torch tensors of a GPU: streams, graphs, torch.compile, autograd; and what a call costs the host.

usage: python_calls.py PACKAGE-FOLDER [--calls N]
Every timed call has a fresh tensor or view and other dims than the one before; medians of single calls, in three rounds, the clock's own time included. It fails where
a result is wrong or a call takes longer than torch's own op.
"""
import argparse
import os
import sys
import threading
import time

import torch
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "python"))
import tilegym_aot  # noqa: E402


def close(name, found, expected, tolerance=1e-4):
    error = (found - expected).abs().max().item()
    if not error <= tolerance:
        raise SystemExit(f"{name}: differs by {error}")


def gradients(function, *tensors):
    tensors = [t.detach().clone().requires_grad_() for t in tensors]
    y = function(*tensors)
    y.backward(torch.linspace(-1, 1, y.numel(), device=y.device).view_as(y))
    return [y.detach()] + [t.grad for t in tensors]


def check(k):
    x = torch.randn(300, 77, device="cuda")
    close("softmax", k.softmax(x), torch.softmax(x, -1))
    close("of a transposed view", k.softmax(x.t()), torch.softmax(x.t(), -1))
    stream, big = torch.cuda.Stream(), torch.randn(4096, 4096, device="cuda") / 64
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        found, expected = k.softmax(big @ big), torch.softmax(big @ big, -1)
    stream.synchronize()
    close("on a stream", found, expected)
    graph, x = torch.cuda.CUDAGraph(), torch.randn(64, 64, device="cuda")
    k.prepare("softmax", x)
    with torch.cuda.graph(graph):
        y = k.softmax(x)
    for _ in range(3):
        x.normal_()
        graph.replay()
        close("in a graph", y, torch.softmax(x, -1))
    x, w, b = torch.randn(40, 256, device="cuda"), torch.randn(256, device="cuda"), torch.randn(256, device="cuda")
    cases = [("layer_norm", lambda x, w, b: k.layer_norm(x, w, b) * 2, lambda x, w, b: F.layer_norm(x, (256,), w, b) * 2, (x, w, b)),
             ("softmax", lambda x: k.softmax(x) * 2, lambda x: torch.softmax(x, -1) * 2, (x,)),
             ("gelu", lambda x: k.gelu(x) * 2, lambda x: F.gelu(x) * 2, (x,)),
             ("gelu by tanh", lambda x: k.gelu(x, "tanh") * 2, lambda x: F.gelu(x, approximate="tanh") * 2, (x,)),
             ("rms_norm", lambda x, w: k.rms_norm(x, w) * 2, lambda x, w: F.rms_norm(x, (256,), w, 1e-6) * 2, (x, w))]
    for op, ours, theirs, tensors in cases:
        for name, function in ((f"{op}: autograd", ours), (f"{op}: compiled autograd", torch.compile(ours, fullgraph=True))):
            for found, expected in zip(gradients(function, *tensors), gradients(theirs, *tensors)):
                close(name, found, expected, 1e-3)
    for wrong, text in ((lambda: k.softmax(x.cpu()), "x"), (lambda: k.vector_add(x, x[:2]), "y")):
        try:
            wrong()
        except ValueError as error:
            assert text in str(error), error
        else:
            raise SystemExit("a wrong call was taken")


def check_devices(k):
    """Each call runs on its tensors' device, whichever is torch's current one, from many threads at once."""
    devices = [torch.device("cuda", i) for i in range(torch.cuda.device_count())]
    failures = []

    def work(number):
        try:
            for turn in range(100):
                device = devices[(number + turn) % len(devices)]
                if number % 2:
                    torch.cuda.set_device(devices[turn % len(devices)])
                x = torch.randn(8 + number, 100 + turn, device=device)
                y = k.softmax(x)
                if y.device != device or (y - torch.softmax(x, -1)).abs().max().item() > 1e-4:
                    failures.append(f"thread {number}, turn {turn}: {y.device} for {device}, or wrong numbers")
        except Exception as error:  # of a thread, which has no other way to say so
            failures.append(repr(error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise SystemExit(f"{len(failures)} failures on {len(devices)} devices, the first: {failures[0]}")
    if len(devices) > 1:
        x = [torch.randn(4, 4, device=device) for device in devices]
        for call in (lambda: k.vector_add(x[0], x[1]), lambda: k.vector_add(x[1], x[1], out=x[0].clone())):
            try:
                call()
            except ValueError as error:
                assert "device" in str(error), error
            else:
                raise SystemExit("tensors of two devices were taken")
    print(f"{len(threads)} threads on {len(devices)} devices: right")


def median(call, tensors, calls):
    clock, times = time.perf_counter_ns, []
    for t in tensors:
        call(t)
    torch.cuda.synchronize()
    for i in range(calls):
        t = tensors[i % len(tensors)]
        begin = clock()
        call(t)
        times.append(clock() - begin)
        if i % 400 == 399:
            torch.cuda.synchronize()
    times.sort()
    return times[len(times) // 2] / 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("package")
    parser.add_argument("--calls", type=int, default=100000)
    options = parser.parse_args()
    k = tilegym_aot.open(options.package)
    check(k)
    check_devices(k)
    base = torch.randn(400 * 128, device="cuda")
    tensors = [base[:n * 128].view(n, 128) if n % 2 else torch.randn(n, 128, device="cuda") for n in range(1, 401)]
    pairs = [(t, torch.empty_like(t)) for t in tensors]
    softmax, add = k.softmax, k.vector_add
    timed = {"softmax(x)": (softmax, tensors), "torch.softmax(x, -1)": (lambda t: torch.softmax(t, -1), tensors),
             "softmax(x, out=y)": (lambda p: softmax(p[0], out=p[1]), pairs),
             "vector_add(x, x)": (lambda t: add(t, t), tensors), "torch.add(x, x)": (lambda t: torch.add(t, t), tensors),
             "vector_add(x, x, out=z)": (lambda p: add(p[0], p[0], out=p[1]), pairs),
             "torch.empty_like(x)": (torch.empty_like, tensors), "the clock alone": (lambda t: None, tensors)}
    best = {}
    for _ in range(3):
        for name, (call, values) in timed.items():
            best[name] = min(best.get(name, 1e9), median(call, values, options.calls // 3))
    for name, us in best.items():
        print(f"{name:24} {us:.2f} us")
    slow = [ours for ours, theirs in (("softmax(x)", "torch.softmax(x, -1)"), ("vector_add(x, x)", "torch.add(x, x)")) if best[ours] > best[theirs]]
    print(f"slower than torch's own: {', '.join(slow)}" if slow else "all as expected")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
