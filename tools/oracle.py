# SPDX-License-Identifier: MIT
"""Judges saved cases by the specs' own second oracle: evaluates each `oracle torch "..."` with torch, and compares the reference's
outputs, and those of compiled kernels where they were saved, with what it gives, at the spec's tolerance.

usage: tilegymc test SPEC... --save CASES; tools/oracle.py CASES [--device cpu|cuda]
The expression sees the op's tensors (None where absent, a list for a list), scalars, dims and `torch`. It gives one tensor, for the first
output, or a tuple for the first ones. Exits with 1 where something differs or an expression fails, 2 where nothing was compared.
"""
import argparse
import ast
import json
import os
import sys

import torch

DTYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
          "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
          "bool": "bool"}
LEAST_STEP = {"f64": 2.0**-1074, "f32": 2.0**-149, "f16": 2.0**-24, "bf16": 2.0**-133, "f8e4m3": 2.0**-9, "f8e5m2": 2.0**-16}


def read(path, dtype, device):
    """A .npy file as tilegymc writes them: version 1, little-endian, row-major; its dtype is said apart, as NumPy has no bf16."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise ValueError(f"{path} is no .npy file of version 1")
    length = int.from_bytes(data[8:10], "little")
    shape = ast.literal_eval(data[10 : 10 + length].decode("latin1").strip())["shape"]
    kind, body = getattr(torch, DTYPES[dtype]), bytearray(data[10 + length :])
    tensor = torch.frombuffer(body, dtype=kind) if body else torch.empty(0, dtype=kind)
    return tensor.reshape(shape).to(device)


def names_of(info):
    """What an expression may name beside the tensors."""
    names = {"torch": torch}
    names.update(info["dims"])
    names.update({name: getattr(torch, DTYPES[dtype]) for name, dtype in info["dtypes"].items()})
    for name, value in info["scalars"].items():
        try:
            names[name] = float(value) if isinstance(value, str) else value
        except ValueError:
            names[name] = value  # the word of an enumeration
    return names


class Case:
    def __init__(self, folder, device):
        with open(os.path.join(folder, "case.json"), encoding="utf-8") as file:
            self.info = json.load(file)
        self.folder, self.device = folder, device
        self.name = f"{self.info['op']}, case \"{self.info['case']}\""

    def tensors(self, files, dtype):
        return [read(os.path.join(self.folder, name), dtype, self.device) for name in files]

    def names(self):
        """What the oracle's expression may name."""
        names = names_of(self.info)
        for entry in self.info["inputs"]:
            tensors = self.tensors(entry["files"], entry["dtype"])
            names[entry["name"]] = tensors if entry["list"] else tensors[0] if entry["present"] else None
        return names

    def oracle(self, text):
        """Its values for the first outputs, each a list of tensors in the output's dtype."""
        given = eval(text, self.names())  # the spec's own expression, which a person wrote and reviewed
        values = []
        for entry, value in zip(self.info["outputs"], given if isinstance(given, tuple) else (given,)):
            kind = getattr(torch, DTYPES[entry["dtype"]])
            values.append([one.to(kind) for one in (value if entry["list"] else [value])])
        return values


def difference(got, want, entry):
    """What is wrong, in a line; nothing where they agree."""
    if tuple(got.shape) != tuple(want.shape):
        return f"got shape {list(got.shape)}, want {list(want.shape)}"
    if want.numel() == 0:
        return None
    tolerance, step = entry["tolerance"], LEAST_STEP.get(entry["dtype"])
    exact = tolerance["relative"] == 0 and tolerance["absolute"] == 0
    if step is not None:
        got, want = got.double(), want.double()
    if step is None or exact:
        bad = (got != want) & ((got == got) | (want == want))  # NaN agrees with NaN
    else:
        allowed = want.abs() * tolerance["relative"]
        if tolerance["of_row_mean_square"]:
            finite = torch.where(torch.isfinite(want), want, torch.zeros_like(want))
            count = torch.isfinite(want).double().sum(-1, keepdim=True).clamp(min=1)
            allowed = allowed + (finite.square().sum(-1, keepdim=True) / count).sqrt() * tolerance["absolute"]
        else:
            allowed = allowed + tolerance["absolute"]
        near = (got - want).abs() <= allowed.clamp(min=step)
        bad = ~(near | (got == want) | ((got != got) & (want != want)))
    wrong = int(bad.sum().item())
    if wrong == 0:
        return None
    at = int(bad.flatten().double().argmax().item())
    index, rest = [], at
    for extent in reversed(want.shape):
        index.insert(0, rest % extent)
        rest //= extent
    return (f"{wrong} of {want.numel()} elements differ\n  first at {index}: got {got.flatten()[at].item()}, "
            f"want {want.flatten()[at].item()}")


def judge(case, text, counts, failures):
    try:
        values = case.oracle(text)
    except Exception as error:  # whatever the expression does
        failures.append(f"{case.name}: the oracle fails: {type(error).__name__}: {error}")
        return
    runs = [("reference", {entry["name"]: entry["files"] for entry in case.info["outputs"]})]
    runs += [(f"{result['backend']} {result['variant']}".strip(), result["outputs"]) for result in case.info["results"]]
    for who, files in runs:
        counts[who.split()[0]] = counts.get(who.split()[0], 0) + 1
        for entry, want in zip(case.info["outputs"], values):
            got = case.tensors(files[entry["name"]], entry["dtype"])
            if len(got) != len(want):
                failures.append(f"{case.name}, {who} against oracle: {entry['name']}: got {len(got)} tensors, want {len(want)}")
            for one, other in zip(got, want):
                if found := difference(one, other, entry):
                    failures.append(f"{case.name}, {who} against oracle: {entry['name']} {entry['dtype']}: {found}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    compared = failed = 0
    for op in sorted(os.listdir(options.folder)):
        counts, failures, without = {}, [], 0
        for number in sorted(os.listdir(os.path.join(options.folder, op))):
            case = Case(os.path.join(options.folder, op, number), options.device)
            texts = [oracle["text"] for oracle in case.info["oracles"] if oracle["with"] == "torch"]
            without += not texts
            for text in texts:
                judge(case, text, counts, failures)
        for failure in failures:
            print(f"FAILED {failure}")
        said = ", ".join(f"{count} of {who}" for who, count in counts.items()) or "nothing"
        print(f"{op}: compared {said}, {len(failures)} failed" + (f", {without} cases have no oracle" if without else ""))
        compared += sum(counts.values())
        failed += len(failures)
    print(f"{compared} compared, {failed} failed")
    return 1 if failed else 0 if compared else 2


if __name__ == "__main__":
    sys.exit(main())
