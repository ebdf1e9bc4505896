# SPDX-License-Identifier: MIT
"""What must be known of a framework by name: whose tensors are torch's, how its stream is asked for, how it makes a tensor.
The extension calls these, most of them once a type or only where a framework has no __dlpack_c_exchange_api__."""
import contextlib
import sys

NONE, TORCH, REDIRECT, CAPSULE = range(4)
DTYPES = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "int64", "uint8",
          "uint16", "uint32", "uint64", "bool"]  # by TilegymDType, as torch and NumPy call them
CUDA = 2


def classify(type_):
    torch = sys.modules.get("torch")
    if torch is not None and issubclass(type_, torch.Tensor):
        return TORCH if type_ in (torch.Tensor, torch.nn.Parameter) else REDIRECT
    return CAPSULE if hasattr(type_, "__dlpack__") else NONE


def is_grad_enabled():
    return sys.modules["torch"].is_grad_enabled()


def is_torch(tensor):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(tensor, torch.Tensor)


def current_stream(tensor, device):
    """Torch's stream; others have ordered their work before the legacy default stream, as capsule() asked them to."""
    return sys.modules["torch"].cuda.current_stream(device).cuda_stream if is_torch(tensor) else 0


def stream_number(stream):
    for name in "cuda_stream", "ptr", "handle":  # torch, CuPy, cuda.core
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(f"stream is {stream!r}, expected a number, or a stream of torch, CuPy or CUDA's Python packages")


def capsule(tensor, stream):
    """By `__dlpack__`: on the device, work on `stream` (-1: the framework's own) comes after what the producer has enqueued."""
    keywords = {}
    if tensor.__dlpack_device__()[0] == CUDA:
        if stream < 0:
            stream = current_stream(tensor, tensor.__dlpack_device__()[1])
        keywords["stream"] = stream or 1  # 1: the legacy default stream; 0 has no meaning in DLPack
    source = tensor.detach() if is_torch(tensor) else tensor
    try:
        return source.__dlpack__(max_version=(1, 0), **keywords)
    except TypeError:  # older than DLPack 1.0
        return source.__dlpack__(**keywords)


def allocate(like, shape, dtype):
    """An uninitialised tensor of the framework that `like` is of."""
    name = DTYPES[dtype]
    if is_torch(like):
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, name), device=like.device)
    module = type(like).__module__.partition(".")[0]
    if module in ("numpy", "cupy"):
        framework = sys.modules[module]
        if hasattr(framework, name):
            with like.device if module == "cupy" else contextlib.nullcontext():
                return framework.empty(shape, dtype=getattr(framework, name + "_" if name == "bool" else name))
    raise TypeError(f"no way is known to make a {name} tensor like {type(like).__module__}.{type(like).__name__}; give the outputs")


def torch_makers():
    """Torch's functions that make tensors, and its dtypes by TilegymDType (None: it has none). empty_like makes one of a given tensor's shape and dtype faster
    than torch's table does; what torch's own compiled code allocates with, if it is there, takes extents, strides and a dtype and goes past the dispatcher."""
    torch = sys.modules["torch"]
    try:
        empty_strided = torch._C._dynamo.guards._empty_strided_cuda
    except AttributeError:  # no part of torch's public interface
        empty_strided = None
    return torch.empty_like, empty_strided, [getattr(torch, name, None) for name in DTYPES]
