# SPDX-License-Identifier: MIT
"""Floats (the simulator does not model which NaN plain arithmetic gives): IEEE arithmetic on pairs of edge cases in each type, conversions in each direction, approximate functions, libdevice."""
from writer import Kernel, MLIR

PAIRS = 24 ** 2
FLOATS = ("f16", "bf16", "f32", "f64")
FLUSH = 'passthrough = [["denormal-fp-math-f32", "preserve-sign,preserve-sign"]]'


def elementwise(name, count, inputs, outputs, body, attributes=()):
    """One thread an element. `outputs`: type and judge of each; `body` takes the inputs' values and gives the outputs'."""
    k = Kernel(name, block=128, grid=(count + 127) // 128, attributes=attributes)
    pointers = [k.input(type, count, text) for type, text in inputs]
    outs = [k.output(type, count, judge) for type, judge in outputs]
    thread = k.global_thread()
    k.add(f"scf.if {k.compare('ult', thread, count)} {{")
    values = [k.load(pointer, thread, MLIR[type]) for pointer, (type, _) in zip(pointers, inputs)]
    for out, (type, _), value in zip(outs, outputs, body(k, *values)):
        k.store(value, out, thread, MLIR[type])
    k.add("}")
    return k


def binary():
    ops = ("addf", "subf", "mulf", "divf", "maximumf", "minimumf")
    for type in FLOATS:
        def body(k, a, b):
            return [k.let(f"arith.{op} {a}, {b} : {type}") for op in ops if type in ("f32", "f64") or op != "divf"]
        outputs = [(type, "numbers")] * (6 if type in ("f32", "f64") else 5)
        count = 288 if type == "f64" else PAIRS
        yield elementwise(f"binary_{type}", count, [(type, "pairs 0"), (type, "pairs 1")], outputs, body)
        yield elementwise(f"binary_{type}_random", 64, [(type, "hash 51"), (type, "hash 52")], outputs, body)

    def fused(k, a, b, c, type):
        return [k.let(f"math.fma {a}, {b}, {c} : {type}")]
    for type in FLOATS:
        yield elementwise(f"fma_{type}", PAIRS if type != "f64" else 288, [(type, "pairs 0"), (type, "pairs 1"), (type, "special")], [(type, "numbers")],
                          lambda k, a, b, c: fused(k, a, b, c, type))
        yield elementwise(f"fma_{type}_random", 64, [(type, "uniform 53 -4 4"), (type, "uniform 54 -4 4"), (type, "uniform 55 -9 9")],
                          [(type, "numbers")], lambda k, a, b, c: fused(k, a, b, c, type))

    def flushed(k, a, b):
        return [k.let(f"arith.{op} {a}, {b} : f32") for op in ops]
    yield elementwise("binary_f32_ftz", PAIRS, [("f32", "pairs 0"), ("f32", "pairs 1")], [("f32", "numbers")] * 6, flushed, [FLUSH])


def unary():
    def body(k, a, type):
        ops = ["math.sqrt", "math.floor", "math.ceil", "math.trunc", "math.roundeven", "math.absf"]
        return [k.let(f"{op} {a} : {type}") for op in ops]
    for type in ("f32", "f64"):
        for name, text in (("special", "special"), ("random", "hash 56"), ("halves", "index -4.25 0.125")):
            yield elementwise(f"unary_{type}_{name}", 64 if name != "special" else 24, [(type, text)], [(type, "numbers")] * 6,
                              lambda k, a: body(k, a, type))


def converts():
    inputs = {"f32": ("special", "hash 61", "uniform 62 -70000 70000", "index -4.75 0.125"), "f64": ("special", "hash 63", "uniform 64 -1e10 1e10")}
    for source, texts in inputs.items():
        targets = [("f16", "f16", "")] if source == "f32" else [("f32", "f32", "")]
        targets += [("s32", "i32", ""), ("u32", "i32", " unsigned"), ("u64", "i64", ""), ("u64", "i64", " unsigned")]
        for mode in ("rn", "rz", "rm", "rp"):
            def body(k, *values):
                return [k.let(f"ptx.convert <{mode}> {x}{how} : {source} to {to}") for x in values for _, to, how in targets]
            yield elementwise(f"convert_{source}_{mode}", 48, [(source, text) for text in texts],
                              [(element, "numbers") for _ in texts for element, _, _ in targets], body)
    for source, type in (("u32", "i32"), ("u64", "i64")):
        def body(k, *values):
            targets = [("f32", how, mode) for how in ("", " unsigned") for mode in ("rn", "rz", "rm", "rp")]
            if type == "i64":
                targets += [("f64", how, mode) for how in ("", " unsigned") for mode in ("rn", "rz", "rm", "rp")]
            return [k.let(f"ptx.convert <{mode}> {x}{how} : {type} to {to}") for x in values for to, how, mode in targets]
        outputs = [("f32", "numbers")] * 8 + ([("f64", "numbers")] * 8 if type == "i64" else [])
        yield elementwise(f"convert_{source}", 24, [(source, "special"), (source, "hash 65")], outputs * 2, body)

    def narrow(k, x):
        half = k.let(f"arith.truncf {x} : f32 to f16")
        brain = k.let(f"arith.truncf {x} : f32 to bf16")
        wide = k.let(f"arith.extf {x} : f32 to f64")
        return [half, brain, wide, k.let(f"arith.extf {half} : f16 to f32"), k.let(f"arith.extf {brain} : bf16 to f32"),
                k.let(f"arith.truncf {k.let(f'arith.mulf {wide}, {wide} : f64')} : f64 to f32")]
    outputs = [("f16", "numbers"), ("bf16", "numbers"), ("f64", "numbers"), ("f32", "numbers"), ("f32", "numbers"), ("f32", "numbers")]
    yield elementwise("narrow_special", 24, [("f32", "special")], outputs, narrow)
    yield elementwise("narrow_random", 64, [("f32", "hash 66")], outputs, narrow)
    yield elementwise("narrow_ties", 128, [("f32", "bits 1065353216 2048")], outputs, narrow)
    yield elementwise("narrow_small", 128, [("f32", "bits 855638016 131072")], outputs, narrow)


def approximations():
    """Bounds: the PTX ISA's and half an ulp of the simulator's. `dense` goes through all exponents and both signs."""
    bounds = {"ex2": "ulp 2.5", "lg2": "near 2.5e-7 2.4e-7", "rsqrt": "ulp 2.5", "rcp": "ulp 1.5", "sqrt": "ulp 1.5", "sin": "near 5.2e-7 0",
              "cos": "near 5.2e-7 0", "tanh": "near 0 5e-4"}
    near = {"ex2": "-20 20", "lg2": "0.5 2", "rsqrt": "0 4", "rcp": "-4 4", "sqrt": "0 4", "sin": "-3.14 3.14", "cos": "-3.14 3.14", "tanh": "-4 4"}
    for kind, bound in bounds.items():
        def body(k, *values):
            return [k.let(f"ptx.approx <{kind}> {x}{ftz} : f32".replace(" : f32", "")) for x in values for ftz in ("", " ftz")]
        # Beyond [-pi, pi] the absolute error of sine and cosine has no stated bound.
        dense = "list 0 -0 1e-45 -1e-39 1e-38 1 -1 3.14 -3.14 0.5 1e-5 inf -inf nan" if kind in ("sin", "cos") else "bits 12345 33554399"
        yield elementwise(f"approx_{kind}", 128, [("f32", f"uniform 71 {near[kind]}"), ("f32", dense)], [("f32", bound)] * 4, body)

    def divide(k, a, b):
        return [k.let(f"ptx.divide_approx {a}, {b}{ftz}") for ftz in ("", " ftz")]
    yield elementwise("divide_approx", PAIRS, [("f32", "pairs 0"), ("f32", "pairs 1")], [("f32", "ulp 2.5")] * 2, divide)
    yield elementwise("divide_approx_random", 128, [("f32", "uniform 72 -9 9"), ("f32", "uniform 73 -9 9")], [("f32", "ulp 2.5")] * 2, divide)


def libdevice():
    """The same library code on both sides; only what it takes from the special-function unit may differ by an ulp."""
    unary = {"expf": "-30 30", "exp2f": "-30 30", "logf": "0 50", "log2f": "0 50", "sinf": "-200 200", "cosf": "-200 200", "tanhf": "-5 5", "erff": "-4 4"}
    for function, span in unary.items():
        def body(k, *values):
            return [k.let(f'ptx.libdevice "__nv_{function}" ({x}) : (f32) -> f32') for x in values]
        yield elementwise(f"libdevice_{function}", 128, [("f32", f"uniform 74 {span}"), ("f32", "special")], [("f32", "ulp 1")] * 2, body)
    for function in ("exp", "log", "sin", "tanh", "erf"):
        def body(k, *values):
            return [k.let(f'ptx.libdevice "__nv_{function}" ({x}) : (f64) -> f64') for x in values]
        yield elementwise(f"libdevice_{function}", 64, [("f64", "uniform 75 -9 9"), ("f64", "special")], [("f64", "ulp 1")] * 2, body)

    def power(k, *values):
        return [k.let(f'ptx.libdevice "__nv_powf" ({a}, {b}) : (f32, f32) -> f32') for a, b in (values[:2], values[2:])]
    yield elementwise("libdevice_powf", 256, [("f32", "uniform 76 0 9"), ("f32", "uniform 77 -5 5"), ("f32", "pairs 0"), ("f32", "pairs 1")],
                      [("f32", "ulp 1")] * 2, power)


def kernels():
    for family in (binary, unary, converts, approximations, libdevice):
        yield from family()
