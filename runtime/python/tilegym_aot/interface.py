# SPDX-License-Identifier: MIT
"""What interface.json says of a package's ops, as objects: arguments, defaults, shapes, signatures and documentation for Python."""
import keyword
from dataclasses import dataclass, field

DTYPES = ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool"]  # by TilegymDType
TORCH_DTYPES = ["float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "int16", "int32", "int64", "uint8",
                "uint16", "uint32", "uint64", "bool"]
NO_DEFAULT = object()


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


@dataclass
class Argument:
    name: str
    kind: str  # tensor, list (of tensors), scalar, const
    dtype: str  # "f32", or a dtype variable
    role: str = "input"
    optional: bool = False
    shape: list = field(default_factory=list)
    alias: str = None
    enumerators: list = field(default_factory=list)
    default: object = NO_DEFAULT

    @property
    def is_output(self):
        return self.role == "output"

    @property
    def is_tensor(self):
        return self.kind == "tensor"

    @property
    def is_list(self):
        return self.kind == "list"

    @property
    def is_scalar(self):
        return self.kind in ("scalar", "const")

    @property
    def python_type(self):
        if self.enumerators:
            return "str"
        return "bool" if self.dtype == "bool" else "float" if self.dtype[0] in "fb" else "int"

    @property
    def type_text(self):
        tensor = f"{self.dtype}[{', '.join(self.shape)}]"
        return tensor if self.is_tensor else f"list of {tensor}" if self.is_list else " | ".join(self.enumerators) or self.dtype


def _argument(json):
    made = Argument(**json)
    made.name = python_name(made.name)
    if made.default is not NO_DEFAULT and not made.enumerators and made.python_type == "float":
        made.default = float(made.default)  # which may be an integer, or the name of an infinity
    return made


class Op:
    """One op's interface. `number` is its place in the package."""

    def __init__(self, json, number):
        self.number = number
        self.name = json["name"]
        self.doc = json["doc"]
        self.dtypes = json["dtypes"]
        self.arguments = [_argument(a) for a in json["arguments"]]
        self.serves = json["serves"]
        self.gradient_of = json.get("gradient_of")
        self.product = json.get("product")
        self.inputs = [a for a in self.arguments if not a.is_output]
        self.outputs = [a for a in self.arguments if a.is_output]
        self.has_lists = any(a.is_list for a in self.arguments)  # torch's dispatch does not see such an op

    def find(self, name):
        return next((a for a in self.arguments if a.name == name), None)

    @property
    def out(self):
        """The output that `out=` names: the only one that every call has."""
        required = [a for a in self.outputs if not a.optional]
        return required[0] if len(required) == 1 else None

    def parameters(self, annotate=False):
        """The parameters of the Python function, as text in their order. An optional one before a required one has no default: a call says None."""
        texts, has_default = [], True
        for a in reversed(self.inputs):
            default = "" if a.default is NO_DEFAULT and not a.optional else repr(a.default if a.is_scalar else None)
            has_default = has_default and default != ""
            type_ = self._scalar_type(a) if a.is_scalar else "Sequence[Tensor]" if a.is_list else "Tensor | None" if a.optional else "Tensor"
            texts.append(python_name(a.name) + (f": {type_}" if annotate else "") +
                         ((" = " if annotate else "=") + default if has_default else ""))
        texts.reverse()
        named = [a.name for a in self.outputs] + (["out"] if self.out and self.out.name != "out" else []) + ["stream", "backend"]
        types = {a.name: "Tensor | bool | None" if a.optional else "Sequence[Tensor] | None" if a.is_list else "Tensor | None" for a in self.outputs}
        types.update(out=types[self.out.name] if self.out else "", stream="object", backend="str | None")
        return texts + ["*"] + [name + (f": {types[name]} = None" if annotate else "=None") for name in named]

    @staticmethod
    def _scalar_type(a):
        return f"Literal[{', '.join(map(repr, a.enumerators))}]" if a.enumerators else a.python_type

    @property
    def result_type(self):
        types = ["list[Tensor]" if a.is_list else "Tensor" for a in self.outputs]
        if len(types) == 1:
            return types[0]
        return "Tensor | tuple[Tensor, ...]" if self.out and not self.has_lists else f"tuple[{', '.join(types)}]"

    def documentation(self):
        """The spec's own, then each argument with its type."""
        lines = list(self.doc) + [""]
        for a in self.arguments:
            role = {"output": ", written", "inout": ", updated"}.get(a.role, "")
            lines.append(f"{a.name}: {a.type_text}{' (optional)' if a.optional else ''}{role}")
        for name, choices in self.dtypes.items():
            lines.append(f"{name}: {', '.join(choices)}")
        optional = [a.name for a in self.outputs if a.optional]
        if optional:
            lines += ["", f"{' and '.join(optional)}: True asks for a new one, a tensor is written; otherwise it is not computed."]
        return "\n".join(lines)

    def like(self, output):
        """The number of the input whose shape and dtype the output always has, or -1."""
        for number, a in enumerate(self.arguments):
            if (a.is_tensor and not a.is_output and not a.optional and a.shape == output.shape and a.dtype == output.dtype and
                    not any(dim.endswith("|1") for dim in a.shape)):
                return number
        return -1

    def core_arguments(self):
        """What _core.make_function takes: see readArgument() of Module.cpp."""
        kinds = {"tensor": 0, "scalar": 1, "const": 2, "list": 3}
        return tuple((a.name, kinds[a.kind], DTYPES.index(a.dtype) if a.dtype in DTYPES else -1, a.is_output, a.role != "input",
                      a.optional, self.like(a) if a.is_output else -1, a.default is not NO_DEFAULT, tuple(a.enumerators))
                     for a in self.arguments)
