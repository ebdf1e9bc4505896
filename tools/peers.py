# SPDX-License-Identifier: MIT
"""The `peer` lines of specs, for `tilegymc bench`, which starts this and asks: a line of JSON in, a line of JSON out.

`peer torch "..."` is a Python expression over the op's tensors, scalars and dims, `peer compile` the same through torch.compile, and
`peer triton` one over the functions of peers_triton.py. A run is timed when it is asked for, as tilegymc times its own: cold L2 cache, between two events.
"""
import glob
import json
import math
import os
import sys
import time

FLUSH = 256 << 20  # bytes: several times the L2 cache
LEAD = 30e-6  # seconds that a flush takes at least: while it runs, Python gets ahead, so that its time is not measured


def find_cublaslt():
    """The newest that came with Python's packages."""
    found = [path for folder in sys.path for path in glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libcublasLt.so.*"))]
    return max(found, default="")


class Peers:
    def __init__(self):
        import oracle
        import torch

        self.oracle = oracle
        self.torch, self.functions, self.graphs = torch, [], {}
        if not torch.cuda.is_available():
            raise RuntimeError("torch finds no GPU")
        self.flush = torch.empty(FLUSH, dtype=torch.uint8, device="cuda")
        try:
            import triton

            self.triton = triton.__version__
        except ImportError:
            self.triton = None

    def hello(self, _):
        about = f"torch {self.torch.__version__}" + (f", triton {self.triton}" if self.triton else ", no triton")
        return {"about": about, "cublaslt": find_cublaslt()}

    def tensor(self, entry):
        """The file's values, over and over: it may be a smaller call's. Of a list its tensors."""
        tensors = []
        for file, shape in zip(entry.get("files", []), entry.get("shapes", [])):
            values = self.oracle.read(file, entry["dtype"], "cuda")
            count = math.prod(shape)
            if count > values.numel() > 0:
                values = values.flatten().repeat(-(-count // values.numel()))
            tensors.append(values.flatten()[:count].reshape(shape))
        return tensors if entry["list"] else tensors[0]

    @staticmethod
    def copied(value):
        return [tensor.clone() for tensor in value] if isinstance(value, list) else None if value is None else value.clone()

    def names(self):
        """What an expression may say, on copies of the inputs."""
        names = self.oracle.names_of(self.case)
        names.update((name, self.copied(value)) for name, value in self.inputs.items())
        return names

    def function(self, peer, names):
        """What runs the peer on these inputs."""
        if peer["with"] == "triton":
            if not self.triton:
                raise RuntimeError("triton is not installed")
            import peers_triton

            names = dict(names, **{name: value for name, value in vars(peers_triton).items() if not name.startswith("_")})
        code = compile(peer["text"], "<peer>", "eval")
        run = lambda: eval(code, names)  # the spec's own expression, which a person wrote and reviewed
        return self.torch.compile(run) if peer["with"] == "compile" else run

    def prepare(self, question):
        self.functions, self.graphs, self.host, self.case = [], {}, {}, question
        self.inputs = {entry["name"]: self.tensor(entry) if entry["present"] else None for entry in question["inputs"]}
        self.torch.cuda.empty_cache()
        names, lacking = self.names(), []
        for peer in question["peers"]:
            try:
                run = self.function(peer, names)
                for _ in range(3):
                    run()
                self.torch.cuda.synchronize()
                self.host[len(self.functions)] = self.host_time(run)
                self.functions.append(run)
                lacking.append("")
            except Exception as error:  # whatever the expression does
                self.functions.append(None)
                lacking.append(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}")
        return {"lacking": lacking}

    def host_time(self, run):
        """Seconds until Python has started all of it."""
        begin = time.perf_counter()
        run()
        took = time.perf_counter() - begin
        self.torch.cuda.synchronize()
        return took

    def graph(self, question):
        """From here on the peer's runs are graphs of `runs`, on copies of the inputs in turn."""
        runs, peer = question["runs"], question["peer"]
        copies = [self.function(self.case["peers"][peer], self.names()) for _ in range(runs)]
        for run in copies:
            run()
        self.torch.cuda.synchronize()
        graph = self.torch.cuda.CUDAGraph()
        with self.torch.cuda.graph(graph):
            for run in copies:
                run()
        self.graphs[peer] = graph, runs, copies
        self.host[peer] = 0
        return {}

    def time(self, question):
        graph, runs, _ = self.graphs.get(question["peer"], (None, 1, None))
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        for _ in range(1 + int(self.host[question["peer"]] / LEAD)):
            self.flush.zero_()
        start.record()
        graph.replay() if graph else self.functions[question["peer"]]()
        end.record()
        end.synchronize()
        return {"seconds": start.elapsed_time(end) * 1e-3 / runs}


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)  # by lines
    os.dup2(2, 1)  # what peers print is no answer
    try:
        peers = Peers()
    except Exception as error:  # no torch, no GPU for it
        answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        return
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = getattr(peers, question["do"])(question)
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
