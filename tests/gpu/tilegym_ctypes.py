# SPDX-License-Identifier: MIT
"""Calls a kernel package from Python over the C interface, with torch tensors: what the GPU tests and benchmarks use.

A Package opens NAME.tgk through libtilegym.so; ops are called by name: package.call("softmax", x=x, y=y, stream=s).
"""
import ctypes
import json
import os

import torch

DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.int8,
          torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64, torch.bool]
C_SCALARS = {"f64": ctypes.c_double, "f32": ctypes.c_float, "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32,
             "i64": ctypes.c_int64, "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32,
             "u64": ctypes.c_uint64, "bool": ctypes.c_uint8, "index": ctypes.c_int64}


class CTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("rank", ctypes.c_int32), ("dtype", ctypes.c_int32)]


class CTensorList(ctypes.Structure):
    _fields_ = [("tensors", ctypes.POINTER(CTensor)), ("count", ctypes.c_size_t)]


class Error(RuntimeError):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


def strided(address, shape, strides, dtype):
    """A C view of memory, also one that torch has no tensor for (negative strides); the arrays live as long as the result."""
    numbers = ctypes.c_int64 * max(len(shape), 1)
    return CTensor(address, numbers(*shape), numbers(*strides), len(shape), DTYPES.index(dtype))


def view(tensor):
    return strided(tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype)


class Package:
    def __init__(self, folder, library=None):
        self.library = ctypes.CDLL(library or os.path.join(os.path.dirname(folder) or ".", "libtilegym.so"))
        self.library.tilegym_last_error.restype = ctypes.c_char_p
        with open(os.path.join(folder, "manifest.json")) as file:
            self.manifest = json.load(file)
        self.ops = {op["name"]: (number, op) for number, op in enumerate(self.manifest["ops"])}
        self.handle = ctypes.c_void_p()
        path = os.path.join(folder, self.manifest["package"] + ".tgk")
        self.check(self.library.tilegym_package_open_file(path.encode(), ctypes.byref(self.handle)))

    def outputs(self, name):
        """Names of the tensors that the op writes."""
        return [t["name"] for t in self.ops[name][1]["tensors"] if t["role"] != "input"]

    def check(self, code):
        if code:
            raise Error(code, self.library.tilegym_last_error().decode())

    def arguments(self, name, values):
        """The op's argument array, and what must stay alive while it is used."""
        number, op = self.ops[name]
        unknown = set(values) - {a["name"] for a in op["arguments"]}
        if unknown:
            raise TypeError(f"{name} has no argument {', '.join(sorted(unknown))}")
        alive, pointers = [], (ctypes.c_void_p * len(op["arguments"]))()
        for i, argument in enumerate(op["arguments"]):
            value = values.get(argument["name"])
            if value is None:
                continue
            if argument["kind"] == "tensor":
                held = value if isinstance(value, CTensor) else view(value)
            elif argument["kind"] == "list":
                views = [view(tensor) for tensor in value]
                array = (CTensor * max(len(views), 1))(*views)
                held = CTensorList(array, len(views))
                alive += [views, array]
            else:
                held = (ctypes.c_int64 if argument["kind"] == "const" else C_SCALARS[argument["dtype"]])(value)
            alive.append(held)
            pointers[i] = ctypes.addressof(held)
        return number, pointers, alive

    def call(self, name, stream=None, **values):
        number, pointers, alive = self.arguments(name, values)
        handle = torch.cuda.current_stream().cuda_stream if stream is None else stream.cuda_stream
        self.check(self.library.tilegym_call(self.handle, ctypes.c_size_t(number), pointers, ctypes.c_void_p(handle)))

    def prepare(self, name, **values):
        number, pointers, alive = self.arguments(name, values)
        self.check(self.library.tilegym_prepare(self.handle, ctypes.c_size_t(number), pointers))

    def explain(self, name, **values):
        number, pointers, alive = self.arguments(name, values)
        text = ctypes.c_char_p()
        self.check(self.library.tilegym_explain(self.handle, ctypes.c_size_t(number), pointers, ctypes.byref(text)))
        return text.value.decode()
