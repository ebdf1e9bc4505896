# SPDX-License-Identifier: MIT
"""What the families share: a kernel as its lines of MLIR, with names for values made as they come.

`k.let("arith.addi {a}, {b} : i32", a=x, b=y)` adds a line and gives the name of its result.
"""

MLIR = {"u8": "i8", "s8": "i8", "e4m3": "i8", "e5m2": "i8", "u16": "i16", "u32": "i32", "s32": "i32", "u64": "i64", "tf32": "i32",
        "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64"}
BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "f32": 4, "f64": 8}
BITS = {"f16": "i16", "bf16": "i16", "f32": "i32", "f64": "i64"}


class Kernel:
    def __init__(self, name, block=32, grid=1, cluster=1, shared=0, attributes=()):
        self.name, self.block, self.grid, self.cluster, self.shared = name, block, grid, cluster, shared
        self.attributes = list(attributes)
        self.plan, self.parameters, self.body, self.count, self.buffers, self.constants = [], [], [], 0, 0, {}

    # Parameters, in order.
    def buffer(self, keyword, element, count, rest):
        self.plan.append(f"{keyword} {element} {count} {rest}")
        self.buffers += 1
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: !llvm.ptr<1>")
        return name

    def input(self, element, count, generator):
        return self.buffer("in", element, count, generator)

    def output(self, element, count, judge="bits", start=None):
        return self.buffer("out", element, count, judge + (f" from {start}" if start else ""))

    def map(self, text):
        """`bf16 of 0 dims ...`"""
        self.plan.append("map " + text)
        name = f"%p{len(self.parameters)}"
        self.parameters.append(f"{name}: !llvm.ptr {{llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, nvvm.grid_constant}}")
        return name

    # Lines.
    def add(self, line):
        self.body.append("  " + line)

    def fresh(self):
        self.count += 1
        return f"%v{self.count}"

    def let(self, text):
        name = self.fresh()
        self.add(f"{name} = {text}")
        return name

    def lets(self, n, text):
        name = self.fresh()
        self.add(f"{name}{':' + str(n) if n > 1 else ''} = {text}")
        return [f"{name}#{i}" for i in range(n)] if n > 1 else [name]

    def const(self, value, type="i32"):
        key = (value, type)
        if key not in self.constants:
            self.constants[key] = f"%c{len(self.constants)}"
        return self.constants[key]

    # Arithmetic on i32.
    def binary(self, op, a, b, type="i32"):
        a, b = (x if isinstance(x, str) else self.const(x, type) for x in (a, b))
        return self.let(f"arith.{op} {a}, {b} : {type}")

    def plus(self, a, b):
        return self.binary("addi", a, b)

    def times(self, a, b):
        return self.binary("muli", a, b)

    def compare(self, how, a, b, type="i32"):
        a, b = (x if isinstance(x, str) else self.const(x, type) for x in (a, b))
        return self.let(f"arith.cmpi {how}, {a}, {b} : {type}")

    def bits(self, value, type):
        """A float as an integer."""
        return self.let(f"llvm.bitcast {value} : {type} to {BITS[type]}") if type in BITS else value

    # Memory.
    def at(self, pointer, index, type, space=1):
        if not isinstance(index, str):
            return self.let(f"llvm.getelementptr {pointer}[{index}] : (!llvm.ptr<{space}>) -> !llvm.ptr<{space}>, {type}")
        return self.let(f"llvm.getelementptr {pointer}[{index}] : (!llvm.ptr<{space}>, i32) -> !llvm.ptr<{space}>, {type}")

    def load(self, pointer, index, type, space=1):
        return self.let(f"llvm.load {self.at(pointer, index, type, space)} : !llvm.ptr<{space}> -> {type}")

    def store(self, value, pointer, index, type, space=1):
        self.add(f"llvm.store {value}, {self.at(pointer, index, type, space)} : {type}, !llvm.ptr<{space}>")

    # Who a thread is.
    def thread(self):
        return self.let("ptx.thread_id")

    def global_thread(self):
        if self.grid == 1:
            return self.thread()
        return self.plus(self.times(self.let("ptx.block_id"), self.block), self.thread())

    def shared_base(self):
        return self.let("ptx.shared_base : !llvm.ptr<3>")

    def address(self, pointer, type="i64", space=3):
        return self.let(f"llvm.ptrtoint {pointer} : !llvm.ptr<{space}> to {type}")

    def first(self):
        """Whether this is the block's first thread."""
        return self.compare("eq", self.thread(), 0)

    def loop_until(self, condition):
        """Repeats the lines that `condition` adds until the i1 that it gives is true."""
        self.add("scf.while : () -> () {")
        done = condition()
        more = self.binary("xori", done, self.const("true", "i1"), "i1")
        self.add(f"scf.condition({more})")
        self.add("} do {")
        self.add("scf.yield")
        self.add("}")

    def wait(self, barrier, parity):
        """Waits for an mbarrier's phase."""
        parity = parity if isinstance(parity, str) else self.const(parity)
        self.loop_until(lambda: self.let(f"ptx.mbarrier_try_wait {barrier}, {parity} : i32"))

    def init_barriers(self, barriers, counts):
        """Made by the first thread; then all threads of the block, or of the cluster, may use them."""
        first = self.first()
        for barrier, count in zip(barriers, counts):
            self.add(f"ptx.mbarrier_init {barrier}, {self.const(count)} if {first}")
        self.add("ptx.fence_mbarrier_init")
        self.meet()
        return first

    def meet(self):
        if self.cluster > 1:
            self.add("ptx.cluster_arrive")
            self.add("ptx.cluster_wait")
        else:
            self.add("ptx.barrier")

    def text(self):
        facts = ["nvvm.kernel", f"nvvm.reqntid = array<i32: {self.block}, 1, 1>"] + self.attributes
        if self.cluster > 1:
            facts.append(f"nvvm.cluster_dim = array<i32: {self.cluster}, 1, 1>")
        if self.shared:
            facts.append(f"tilegym.shared_bytes = {self.shared} : i64")
        lines = [f"//! kernel {self.name} block {self.block} grid {self.grid} shared {self.shared}"]
        lines += ["//! " + line for line in self.plan]
        lines.append(f"llvm.func @{self.name}({', '.join(self.parameters)}) attributes {{{', '.join(facts)}}} {{")
        for (value, type), name in self.constants.items():
            lines.append(f"  {name} = arith.constant {value}" + ("" if type == "i1" else f" : {type}"))
        return "\n".join(lines + self.body + ["  llvm.return", "}", ""])
