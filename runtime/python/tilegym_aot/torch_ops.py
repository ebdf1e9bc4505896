# SPDX-License-Identifier: MIT
"""A package's ops, but for those on lists, as torch custom ops: what torch.compile, autograd and tensor subclasses see. Each op NAME is two of torch's: NAMESPACE::NAME makes its
outputs, NAMESPACE::NAME_out writes given ones. Outputs that a call does not ask for are empty tensors inside and dropped by the function around."""
import itertools

import torch

from . import _shapes, gradients
from .interface import DTYPES, NO_DEFAULT, TORCH_DTYPES

_namespaces = set()
# Names that torch's own functions around custom ops take for themselves.
_TAKEN = {"mode", "self", "out"}


def _namespace(name):
    for number in itertools.count(1):
        candidate = name if number == 1 else f"{name}_{number}"
        if candidate not in _namespaces:
            _namespaces.add(candidate)
            return candidate


def _schema_name(a):
    return a.name + "_" if a.name in _TAKEN else a.name


class TorchOps:
    """`functions[NAME]` is what redirected and compiled calls run; its parameters are the eager function's."""

    def __init__(self, name, interfaces, function):
        self.eager = function
        self.namespace = _namespace(name)
        self.library = torch.library.Library(self.namespace, "FRAGMENT")
        self.functions = {}
        interfaces = {name: op for name, op in interfaces.items() if not op.has_lists}
        for op in interfaces.values():
            self._define(op)
        differentiable = {op.gradient_of["op"]: op for op in interfaces.values() if op.gradient_of}
        for op in interfaces.values():
            gradient = differentiable.get(op.name)
            self._differentiate(op, gradient)
            self.functions[op.name] = self._function(op, gradient)

    def _overload(self, name):
        return getattr(getattr(torch.ops, self.namespace), name).default

    def _define(self, op):
        kernel = self.eager(op.name)  # without a way back to here
        inputs = ", ".join(self._schema_argument(a) for a in op.inputs)
        wanted = ", ".join(f"bool {_schema_name(a)}" for a in op.outputs if a.optional)
        results = ", ".join("Tensor" for _ in op.outputs)
        tags = (torch.Tag.pt2_compliant_tag,)
        self.library.define(f"{op.name}({', '.join(filter(None, [inputs, wanted]))}) -> ({results})", tags=tags)
        written = ", ".join(f"Tensor({chr(97 + i)}!){'?' if a.optional else ''} {_schema_name(a)}" for i, a in enumerate(op.outputs))
        self.library.define(f"{op.name}_out({inputs}, {written}) -> ()", tags=tags)

        def split(args):
            return args[:len(op.inputs)], dict(zip([a.name for a in op.outputs if a.optional], args[len(op.inputs):]))

        def run(*args):
            args, wanted = split(args)
            made = kernel(*args, **wanted)
            made = iter(made if isinstance(made, tuple) else (made,))
            return self._pack(op, [next(made) if wanted.get(a.name, True) else self._nothing(op, args) for a in op.outputs])

        def run_out(*args):
            kernel(*args[:len(op.inputs)], **dict(zip([a.name for a in op.outputs], args[len(op.inputs):])))

        def fake(*args):
            args, wanted = split(args)
            return self._pack(op, [self._empty(op, a, args) if wanted.get(a.name, True) else self._nothing(op, args) for a in op.outputs])

        self.library.impl(op.name, run, "CompositeExplicitAutograd")
        self.library.impl(f"{op.name}_out", run_out, "CompositeExplicitAutograd")
        torch.library.register_fake(f"{self.namespace}::{op.name}", fake, lib=self.library)
        torch.library.register_fake(f"{self.namespace}::{op.name}_out", lambda *args: None, lib=self.library)

    @staticmethod
    def _schema_argument(a):
        if a.is_tensor:
            mark = "(z!)" if a.role == "inout" else ""
            return f"Tensor{mark}{'?' if a.optional else ''} {_schema_name(a)}"
        return f"{a.python_type} {_schema_name(a)}"

    @staticmethod
    def _pack(op, outputs):
        return outputs[0] if len(op.outputs) == 1 else tuple(outputs)

    @staticmethod
    def _first(op, args):
        return next(value for a, value in zip(op.inputs, args) if a.is_tensor and value is not None)

    def _nothing(self, op, args):
        return self._first(op, args).new_empty(0)

    def _empty(self, op, output, args):
        """The output for these inputs, of which only shapes and dtypes are known, as torch.compile and meta tensors ask for it."""
        dtype = next((value.dtype for a, value in zip(op.inputs, args) if a.is_tensor and value is not None and a.dtype == output.dtype), None)
        if dtype is None:
            dtype = getattr(torch, TORCH_DTYPES[DTYPES.index(output.dtype)])
        return self._first(op, args).new_empty(_shapes.of(op, output, args), dtype=dtype)

    def _differentiate(self, op, gradient):
        name = f"{self.namespace}::{op.name}"
        formula = gradients.FORMULAS.get(op.name)
        if gradient is not None:
            setup, backward = self._by_op(op, gradient)
        elif formula is not None and gradients.fits(op, formula):
            setup, backward = self._by_formula(op, formula)
        else:
            setup, backward = None, self._none(op)
        torch.library.register_autograd(name, backward, setup_context=setup, lib=self.library)

    @staticmethod
    def _none(op):
        def backward(ctx, *grads):
            raise NotImplementedError(f"{op.name} has no gradient: no op of its package is `gradient of {op.name}`")
        return backward

    def _by_formula(self, op, formula):
        names = [a.name for a in op.inputs]
        positions = [i for i, a in enumerate(op.inputs) if a.is_tensor]

        def setup(ctx, inputs, output):
            ctx.save_for_backward(*[inputs[i] for i in positions])
            ctx.rest = [None if i in positions else value for i, value in enumerate(inputs[:len(names)])]

        def backward(ctx, *grads):
            values = list(ctx.rest)
            for i, tensor in zip(positions, ctx.saved_tensors):
                values[i] = tensor
            made = formula(self._overload(op.name), ctx.needs_input_grad, grads, *values)
            return (*made, *[None] * (len(names) - len(made) + sum(a.optional for a in op.outputs)))
        return setup, backward

    def _by_op(self, op, gradient):
        """The op that is declared `gradient of` this one takes its arguments by name: gradients of outputs, inputs, outputs, scalars."""
        of_outputs = {grad: name for name, grad in gradient.gradient_of["outputs"].items()}
        of_inputs = {grad: name for name, grad in gradient.gradient_of["inputs"].items()}
        in_names, out_names = [a.name for a in op.inputs], [a.name for a in op.outputs]
        kept_inputs = [a.name for a in gradient.inputs if a.is_tensor and a.name in in_names]
        kept_outputs = [a.name for a in gradient.inputs if a.is_tensor and a.name in out_names and a.name not in of_outputs]
        without_gradient = [name for name in out_names if name not in gradient.gradient_of["outputs"]]

        def setup(ctx, inputs, output):
            outputs = output if isinstance(output, tuple) else (output,)
            ctx.save_for_backward(*[inputs[in_names.index(n)] for n in kept_inputs], *[outputs[out_names.index(n)] for n in kept_outputs])
            ctx.scalars = {a.name: inputs[i] for i, a in enumerate(op.inputs) if not a.is_tensor}
            ctx.mark_non_differentiable(*[outputs[out_names.index(n)] for n in without_gradient])

        def backward(ctx, *grads):
            values = dict(zip(kept_inputs + kept_outputs, ctx.saved_tensors)) | ctx.scalars
            values.update({grad: grads[out_names.index(name)] for grad, name in of_outputs.items()})
            needed = any(ctx.needs_input_grad[in_names.index(of_inputs[a.name])] for a in gradient.outputs if a.optional)
            made = self._overload(gradient.name)(*[values[a.name] for a in gradient.inputs], *[needed for a in gradient.outputs if a.optional])
            made = dict(zip([a.name for a in gradient.outputs], made if isinstance(made, tuple) else (made,)))
            by_input = {of_inputs[a.name]: made[a.name] for a in gradient.outputs if not a.optional or needed}
            return tuple(by_input.get(name) if needs else None for name, needs in zip(in_names, ctx.needs_input_grad)) + (None,) * sum(
                a.optional for a in op.outputs)
        return setup, backward

    def _function(self, op, gradient):
        """Written as source, so that torch.compile traces plain code and not loops over interfaces."""
        tensors = [a.name for a in op.inputs if a.is_tensor]
        wants = f"is_grad_enabled() and ({' or '.join(f'{t} is not None and {t}.requires_grad' for t in tensors)})"
        needed = [a.name for a in op.outputs if a.optional and gradient is not None and a.name in [g.name for g in gradient.inputs]]
        inputs = ", ".join(a.name for a in op.inputs)
        lines = [f"def {op.name}({', '.join(op.parameters())}):",
                 "  if stream is not None:",
                 f"    raise TypeError('{op.name}: torch runs this call on its current stream; use torch.cuda.stream() in place of stream=')",
                 "  if backend is not None:",
                 f"    raise TypeError('{op.name}: torch dispatches this call; use tilegym_aot.set_backend() in place of backend=')"]
        lines += [f"  if {a.name} is None:\n    {a.name} = {a.default!r}" for a in op.inputs if a.default is not NO_DEFAULT]
        if op.out and op.out.name != "out":
            lines += ["  if out is not None:", f"    {op.out.name} = out"]
        given = " or ".join(f"({a.name} is not None and {a.name} is not True and {a.name} is not False)" for a in op.outputs)
        lines += [f"  if {given}:",
                  f"    if {wants}:",
                  f"      raise RuntimeError('{op.name}: outputs that are given do not take part in autograd')"]
        for a in op.outputs:
            wrong = f"{a.name} is True" if a.optional else f"{a.name} is None"
            lines += [f"    if {wrong}:", f"      raise TypeError('{op.name}: give {a.name} too, or no output at all, where torch dispatches the call')"]
        optional = ", ".join(f"None if {a.name} is False else {a.name}" if a.optional else a.name for a in op.outputs)
        lines += [f"    run_out({inputs}, {optional})"]
        results = [a.name if not a.optional else None for a in op.outputs]
        lines += self._return(op, {a.name: a.name for a in op.outputs}, indent="    ")
        if needed:
            lines += [f"  needs = {wants}"]
        flags = ", ".join(f"{a.name} is True{' or needs' if a.name in needed else ''}" for a in op.outputs if a.optional)
        lines += [f"  made = run({', '.join(filter(None, [inputs, flags]))})"]
        if len(op.outputs) == 1:
            lines += ["  return made"]
        else:
            lines += self._return(op, {a.name: f"made[{i}]" for i, a in enumerate(op.outputs)}, indent="  ")
        space = {"run": self._overload(op.name), "run_out": self._overload(op.name + "_out"), "is_grad_enabled": torch.is_grad_enabled,
                 "inf": float("inf"), "nan": float("nan")}
        exec(compile("\n".join(lines), f"<tilegym_aot {op.name}>", "exec"), space)
        space[op.name].__doc__ = op.documentation()
        return space[op.name]

    @staticmethod
    def _return(op, values, indent):
        """One output by itself, several as a tuple, without those that were not asked for."""
        optional = [a for a in op.outputs if a.optional]
        if not optional:
            return [indent + "return " + ", ".join(values.values())]
        lines = [indent + "results = []"]
        for a in op.outputs:
            if a.optional:
                lines += [f"{indent}if {a.name} is not None and {a.name} is not False:", f"{indent}  results.append({values[a.name]})"]
            else:
                lines += [f"{indent}results.append({values[a.name]})"]
        return lines + [indent + "return results[0] if len(results) == 1 else tuple(results)"]
