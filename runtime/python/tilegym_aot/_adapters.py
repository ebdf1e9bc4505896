# SPDX-License-Identifier: MIT
"""Functions with another library's names and order of arguments, made from the `serves` lines of specs."""
from .interface import NO_DEFAULT, python_name

_MISSING = object()


class Served:
    """One `serves` line of an op, which `function` calls."""

    def __init__(self, op, line, function):
        self.op, self.function = op, function
        self.name = line["name"]
        self.arguments = line["arguments"]
        self.results = line.get("results")
        self.is_tuple = line.get("tuple", False)

    def adapter(self):
        """As source, so that a call costs no more than a function of as many lines, and torch.compile can trace it."""
        name = python_name(self.name.rpartition(".")[2])
        lines = [f"def {name}({', '.join(self._parameters())}):", *map("  {}".format, self._body())]
        space = {"_MISSING": _MISSING, "_op": self.function, "inf": float("inf"), "nan": float("nan")}
        exec(compile("\n".join(lines), f"<tilegym_aot serves {self.name}>", "exec"), space)
        made = space[name]
        made.__module__ = "tilegym_aot.tilegym_backend"
        made.__doc__ = self.op.documentation()
        return made

    def _of(self, use):
        return [a for a in self.arguments if a["use"] == use]

    def _default(self, a):
        """As Python text; None where the name must be given."""
        if "default" in a:
            return repr(a["default"])
        if a["use"] in ("transposes", "in_place"):
            return "False"
        target = self.op.find(a["of"]) if a["use"] == "argument" else None
        if target is None or target.is_output:
            return "None"
        return None if target.default is NO_DEFAULT else repr(target.default)

    def _parameters(self):
        made = [f"{python_name(a['name'])}={self._default(a) or '_MISSING'}" for a in self.arguments]
        return made + (["**more"] if self._renamed() else [])

    def _renamed(self):
        """Arguments that also answer to our name, where the other library's own front end and implementations differ."""
        names = [a["name"] for a in self.arguments]
        return [a for a in self._of("argument") if a["of"] != a["name"] and a["of"] not in names]

    def _body(self):
        values = {a["of"]: python_name(a["name"]) for a in self._of("argument")}
        for a in self._renamed():
            name = python_name(a["name"])
            yield f"{name} = more.pop({a['of']!r}, {name})"
        if self._renamed():
            yield f"if more: raise TypeError(f'{self.name}() got an unexpected keyword argument {{next(iter(more))!r}}')"
        for a in self._of("argument"):
            if self._default(a) is None:
                yield (f"if {python_name(a['name'])} is _MISSING: "
                       f"raise TypeError({self.name + '() missing required argument ' + repr(a['name'])!r})")
        for a in self._of("none"):
            yield (f"if {python_name(a['name'])} is not None: "
                   f"raise NotImplementedError({self.name + ': backend tilegymc takes no ' + a['name']!r})")
        for a in self._of("transposes"):
            of = values[a["of"]]
            turned = f"[x.mT for x in {of}]" if self.op.find(a["of"]).is_list else f"{of}.mT"
            yield f"if {python_name(a['name'])}: {of} = {turned}"
        inputs = [values.get(a.name, "None") for a in self.op.inputs]
        made = [f"{a.name}={value}" for a in self.op.outputs if (value := self._output(a, values)) is not None]
        call = f"_op({', '.join(inputs + made)})"
        if self.results is None:
            yield f"return {call}"
            return
        # As many as the call is asked for: the outputs that it always has, and those among the results.
        present = [a.name for a in self.op.outputs if not a.optional or a.name in self.results]
        yield f"{', '.join(present)} = {call}"
        results = ["None" if name is None else name for name in self.results]
        yield f"return ({', '.join(results)},)" if self.is_tuple else f"return {results[0]}"

    def _output(self, output, values):
        """What the call says of an output: one that was given, one that takes its input's place, or one that is asked for."""
        given = values.get(output.name)
        for a in self._of("in_place"):
            if output.alias:
                unless = f" or not {values.get(a['of'], a['of'])}" if "of" in a else ""
                return f"{values[output.alias]} if {python_name(a['name'])}{unless} else None"
        if output.optional and self.results and output.name in self.results:
            return f"True if {given} is None else {given}" if given else "True"
        return given
