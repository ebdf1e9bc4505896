// SPDX-License-Identifier: MIT
// Builtins on values: elementwise, conversion, shape, reductions, products, random, program, facts; and their errors.
#include "BodyTesting.h"

using namespace tilegym::sem::testing;

TEST_CASE("elementwise builtins") {
  CHECK(kernelText("let v = exp(load(half[0, 0]))") ==
        "let v.0 = exp(load(view_index(half, [0:index, 0:index])[], 0.0:f16):f16):f16\n");
  CHECK(kernelText("let v = exp(1) * eps") == "let v.0 = mul(2.7182817459106445:f32, eps):f32\n");
  CHECK(kernelText("let v = max(iota(8), N)") ==
        "let v.0 = max(iota():index[8], broadcast(N):index[8]):index[8]\n");
  CHECK(kernelText("let v = fma(eps, 2, iota(0 + 8) * 1.0)").find("`*` of index") == std::string::npos);
  CHECK(kernelText("let v = isnan(eps)") == "let v.0 = isnan(eps):bool\n");
  CHECK(kernelText("let v = select(n > 2, iota(8), 0)") ==
        "let v.0 = select(broadcast(gt(n, 2:i32):bool):bool[8], iota():index[8], "
        "broadcast(0:index):index[8]):index[8]\n");
  CHECK(kernelText("let v = pow(eps, 2)") == kernelText("let v = eps ** 2"));
  expectKernelErrors({
      {"let v = exp(@{n}@)", "`exp` needs floats, found i32", "convert it: f32(x)"},
      {"let v = cdiv(@{eps}@, 2)", "`cdiv` needs integers, found f32", "convert it: i32(x)"},
      {"let v = abs(@{flag}@)", "`abs` needs numbers, found bool",
       "convert it: i32(x), or use select(cond, a, b)"},
      {"let v = max(n, 1, axis=@{0}@)", "`max` of two values takes no `axis`",
       "reduce one tile: max(x, axis=1)"},
      {"let v = @{max(n)}@", "`max` reduces a tile, found the scalar i32",
       "of two values it gives the one: max(a, b)"},
      {"let v = select(@{n}@, 1, 2)", "the condition of `select` must be bool, found i32",
       "compare it, e.g. x != 0"},
      {"let v = @{max(iota(8), iota(4))}@", "`max` of index[8] and index[4]: the shapes do not broadcast",
       "extents must be equal or 1, counted from the last axis"},
      {"let v = @{load(half[0, 0]) + load(brain[0, 0])}@", "`+` of f16 and bf16",
       "convert one side by name: f16(x)"},
      {"let v = @{n + load(u[0])}@", "`+` of i32 and u32", "convert one side by name: i32(x)"},
      {"let v = @{zeros(f32, [1024, 1]) + zeros(f32, [1, 2048])}@",
       "a tile [1024, 2048] has more than 1048576 elements", "walk over it in smaller tiles with a loop"},
  });
}

TEST_CASE("f8 has no arithmetic") {
  const char *help = "convert it: f32(x); mma takes f8 as it is";
  expectKernelErrors({
      {"let v = @{load(e8[0, 0])}@ + 1", "`+` of f8e4m3, which has no arithmetic", help},
      {"let v = @{-load(e8[0, 0])}@", "`-` of f8e4m3, which has no arithmetic", help},
      {"let v = exp(@{load(e8[0, 0])}@)", "`exp` of f8e4m3, which has no arithmetic", help},
      {"let v = sum(@{load(e8[0, 0 :+ 8])}@)", "`sum` of f8e4m3, which has no arithmetic", help},
      {"let v = sort(@{load(e8[0, 0 :+ 8])}@)", "`sort` of f8e4m3, which has no arithmetic", help},
  });
}

TEST_CASE("conversions in bodies") {
  CHECK(kernelText("let v = f8e4m3(eps, sat=false)") == "let v.0 = convert(eps, sat=false):f8e4m3\n");
  CHECK(kernelText("let v = f16(eps, round=down)") == "let v.0 = convert(eps, round=down):f16\n");
  CHECK(kernelText("let v = T(n)") == "let v.0 = convert(n):f32\n");
  CHECK(kernelText("let v = bitcast(zeros(f32, [8]), u8)") ==
        "let v.0 = bitcast(broadcast(0.0:f32):f32[8]):u8[32]\n");
  CHECK(kernelText("let v = iota(8) * sizeof(f16)") ==
        "let v.0 = mul(iota():index[8], broadcast(2:index):index[8]):index[8]\n");
  expectKernelErrors({
      {"let v = @{f32()}@", "`f32` lacks the value to convert",
       "it is written f32(x, round=nearest | zero | down | up, sat=true)"},
      {"let v = f32(n, @{2}@)", "`f32` converts one value",
       "it is written f32(x, round=nearest | zero | down | up, sat=true)"},
      {"let v = f16(eps, round=@{sideways}@)", "`round` must be nearest, zero, down or up"},
      {"let v = i32(eps, round=@{down}@)", "`round` belongs to conversions to a float",
       "use floor, ceil, round or trunc before converting to an integer"},
      {"let v = f32(n, @{mode}@=1)", "`f32` has no argument `mode`",
       "it is written f32(x, round=nearest | zero | down | up, sat=true)"},
      {"let v = f8e4m3(eps, sat=@{n > 2}@)", "`sat` must be known at compile time, found a run-time value",
       "consts, tile parameters, dtypes and present(...) are; for a run-time condition write `if`"},
      {"let v = sizeof(@{n}@)", "the argument of `sizeof` must be a dtype",
       "write f32, bf16, i32 ... or a dtype name of the op"},
      {"let v = @{bitcast(n > 2, i32)}@", "`bitcast` from bool to i32: bool and index have no fixed bits",
       "convert to an integer of a size first: i32(x)"},
      {"let v = @{bitcast(n, u8)}@", "`bitcast` of a scalar from i32 to u8: the sizes differ"},
      {"let v = @{bitcast(zeros(u8, [2]), i32)}@",
       "`bitcast` of u8[2] to i32: the last axis does not fill whole elements"},
  });
}

TEST_CASE("shape builtins") {
  CHECK(kernelText("let v = full(eps, f32, [4, 8])") == "let v.0 = broadcast(eps):f32[4, 8]\n");
  CHECK(kernelText("let v = reshape(iota(32), [4, -1])") ==
        "let v.0 = reshape(iota():index[32]):index[4, 8]\n");
  CHECK(kernelText("let v = permute(zeros(f32, [2, 4, 8]), 2, 0, 1)") ==
        "let v.0 = permute(broadcast(0.0:f32):f32[2, 4, 8], [2, 0, 1]):f32[8, 2, 4]\n");
  CHECK(kernelText("let v = broadcast(iota(8)[:, None], [8, 4])") ==
        "let v.0 = broadcast(reshape(iota():index[8]):index[8, 1]):index[8, 4]\n");
  CHECK(kernelText("let v = cat(zeros(f32, [2, 8]), full(1, f32, [2, 8]), axis=-1)") ==
        "let v.0 = cat(broadcast(0.0:f32):f32[2, 8], broadcast(1.0:f32):f32[2, 8], axis=1):f32[2, 16]\n");
  CHECK(kernelText("let t = zeros(f32, [4, 8])\nlet (p, q) = split(t, 2, axis=0)") ==
        "let t.0 = broadcast(0.0:f32):f32[4, 8]\nlet p.1 = extract(t.0, [0, 0]):f32[2, 8]\nlet q.2 = "
        "extract(t.0, [2, 0]):f32[2, 8]\n");
  CHECK(kernelText("let t = zeros(f32, [4, 8])\nlet v = extract(t, [2, 0], [2, 4])\nlet c = t[1, 0 :+ 4]") ==
        "let t.0 = broadcast(0.0:f32):f32[4, 8]\nlet v.1 = extract(t.0, [2, 0]):f32[2, 4]\nlet c.2 = "
        "reshape(extract(t.0, [1, 0]):f32[1, 4]):f32[4]\n");
  expectKernelErrors({
      {"let v = zeros(f32, [@{N}@])", "the shape of `zeros` has a run-time extent",
       "extents of tiles are compile-time: use a tile parameter, or a dim with listed values (where D: 64 | "
       "128)"},
      {"let v = @{zeros(f32, [100])}@",
       "a tile extent of 100 is not 2^k * r with r odd and at most 15 (r > 1 only where 2^k >= 8)",
       "the nearest legal extents are 96 and 104"},
      {"let v = @{zeros(f32, [2048, 1024])}@", "a tile [2048, 1024] has more than 1048576 elements",
       "walk over it in smaller tiles with a loop"},
      {"let v = zeros(f32, [@{-1}@])", "the shape of `zeros` has the extent -1, which is negative"},
      {"let v = zeros(f32, @{[1, 1, 1, 1, 1, 1, 1, 1, 1]}@)", "the shape of `zeros` has more than 8 axes"},
      {"let v = full(@{iota(8)}@, f32, [8])", "the value of `full` must be a scalar, found index[8]"},
      {"let v = full(@{n}@, f32, [8])", "the value of `full` has dtype i32, expected f32",
       "convert it: f32(...)"},
      {"let v = zeros(@{n}@, [8])", "the dtype of `zeros` must be a dtype",
       "write f32, bf16, i32 ... or a dtype name of the op"},
      {"let v = @{iota(12)}@",
       "a tile extent of 12 is not 2^k * r with r odd and at most 15 (r > 1 only where 2^k >= 8)",
       "the nearest legal extents are 8 and 16"},
      {"let v = @{iota(0)}@", "a tile extent of 0 is not positive", "the smallest extent is 1"},
      {"let v = iota(@{[2, 2]}@)", "`iota` takes one extent", "add axes by indexing: iota(n)[:, None]"},
      {"let v = @{reshape(iota(32), [4, 4])}@", "`reshape` of index[32] to [4, 4]: 32 elements, expected 16"},
      {"let v = @{reshape(iota(32), [24, -1])}@",
       "`reshape` of index[32]: its 32 elements are no multiple of 24"},
      {"let v = reshape(iota(32), @{[-1, -1]}@)", "`reshape` infers at most one extent (-1)"},
      {"let v = @{broadcast(iota(8), [4])}@", "index[8] does not broadcast to [4]",
       "extents must be equal or 1, counted from the last axis"},
      {"let v = @{permute(iota(8), 1)}@", "`permute` takes each of the 1 axes once"},
      {"let v = @{cat(iota(8), iota(8))}@", "`cat` lacks its argument `axis`", "write cat(a, b, axis=0)"},
      {"let v = @{cat(zeros(f32, [2, 8]), zeros(f32, [2, 4]), axis=0)}@",
       "`cat` of f32[2, 8] and f32[2, 4] along axis 0: the other extents differ"},
      {"let v = cat(iota(8), iota(8), axis=@{1}@)", "`cat` has no axis 1: its rank is 1"},
      {"let v = @{cat(axis=0)}@", "`cat` joins at least one tile"},
      {"let v = split(iota(8), @{3}@)", "an axis of 8 does not split into 3 equal parts"},
      {"let v = @{split(n, 2)}@", "`split` of a scalar"},
      {"let v = @{extract(iota(8), [0, 0], [4])}@",
       "`extract` of index[8] takes 1 offsets and extents, found 2 and 1"},
      {"let v = @{extract(iota(8), [6], [4])}@", "`extract` leaves index[8] on axis 0: offset 6, extent 4"},
  });
}

TEST_CASE("reductions, scans and sorts") {
  CHECK(kernelText("let v = sum(zeros(f16, [4, 8]), axis=-1, acc=f32)") ==
        "let v.0 = sum(broadcast(0.0:f16):f16[4, 8], [1], acc=f32):f32[4, 1]\n");
  CHECK(kernelText("let v = max(zeros(f32, [2, 4, 8]), axis=(0, 2))") ==
        "let v.0 = reduce_max(broadcast(0.0:f32):f32[2, 4, 8], [0, 2]):f32[1, 4, 1]\n");
  CHECK(kernelText("let v = argmin(iota(8))") == "let v.0 = argmin(iota():index[8]):index\n");
  CHECK(kernelText("let v = any(iota(8) == 3)") ==
        "let v.0 = any(eq(iota():index[8], broadcast(3:index):index[8]):bool[8]):bool\n");
  CHECK(kernelText("let v = scan(iota(8), 0, add, reverse=true)", "fn add(p, q) { p + q }\n") ==
        "let v.2 = scan(iota():index[8], 0:index, axis=0, reverse, (p.0, q.1) => add(p.0, "
        "q.1):index):index[8]\n");
  CHECK(kernelText("let (v, i) = topk(zeros(f32, [4, 8]), 2, axis=1)") ==
        "let topk.0 = topk(broadcast(0.0:f32):f32[4, 8], [2], axis=1):(f32[4, 2], index[4, 2])\nlet v.1 = "
        "tuple_get(topk.0, 0):f32[4, 2]\n"
        "let i.2 = tuple_get(topk.0, 1):index[4, 2]\n");
  CHECK(kernelText("let v = histogram(iota(8), 16)") ==
        "let v.0 = histogram(iota():index[8], [16]):i32[16]\n");
  std::string fns = "fn add(p, q) { p + q }\nfn three(p, q, r) { p }\nfn pair(p, q) { (p, q) }\nfn writes(p, "
                    "q) {\nprint(\"x\")\np\n}\nfn other(p, q) { f32(p) }\n"
                    "fn reads(p, q) { load(h[0]) }\n";
  expectKernelErrors(
      {
          {"let v = sum(iota(8), axis=@{1}@)", "`sum` has no axis 1: its rank is 1"},
          {"let v = sum(zeros(f32, [2, 4]), axis=@{[1, 1]}@)", "an axis is named twice"},
          {"let v = argmax(zeros(f32, [2, 4]), axis=@{[0, 1]}@)", "`argmax` takes one axis"},
          {"let v = sum(@{iota(8) < 2}@)", "`sum` needs numbers, found bool[8]",
           "count with sum(i32(x)), or use any and all"},
          {"let v = any(@{iota(8)}@)", "`any` needs bool, found index[8]", "compare first: any(x != 0)"},
          {"let v = sum(zeros(f32, [8]), acc=@{f16}@)", "`sum` of f32 cannot accumulate in f16",
           "name a dtype of the same kind and at least as wide, or convert x first"},
          {"let v = @{sum(n)}@", "`sum` reduces a tile, found the scalar i32"},
          {"let v = @{cumsum(zeros(f32, [2, 4]))}@", "`cumsum` of rank 2 needs an axis",
           "write axis=...; only at rank 1 may it be left out"},
          {"let v = @{sort(n)}@", "`sort` needs a tile, found the scalar i32"},
          {"let v = sort(@{iota(8) < 2}@)", "`sort` needs numbers, found bool[8]", "convert it: i32(x)"},
          {"let v = topk(iota(8), @{9}@)", "`topk` takes 9 of 8"},
          {"let v = topk(iota(8), @{3}@)",
           "a tile extent of 3 is not 2^k * r with r odd and at most 15 (r > 1 only where 2^k >= 8)",
           "the nearest legal extents are 2 and 4"},
          {"let v = histogram(@{zeros(f32, [8])}@, 4)", "`histogram` needs integers, found f32[8]",
           "convert it: i32(x)"},
          {"let v = histogram(iota(8), @{0}@)", "`histogram` has 0 bins, expected 1 to 1048576"},
          {"let v = reduce((iota(8), iota(8)), @{0}@, add)",
           "`reduce` of 2 tiles takes as many inits, found 1"},
          {"let v = reduce(iota(8), @{iota(8)}@, add)",
           "the init of `reduce` must be a scalar, found index[8]"},
          {"let v = reduce(iota(8), 0, @{n}@)", "the combiner of `reduce` must be the name of a fn",
           "declare it: fn add(a, b) { a + b }"},
          {"let v = reduce(iota(8), 0, @{three}@)", "the combiner `three` takes 3 parameters, expected 2",
           "it takes every accumulator, then an element of each tile"},
          {"let v = reduce(iota(8), 0, @{pair}@)", "the combiner `pair` gives 2 values, expected 1"},
          {"let v = @{reduce(n, 0, add)}@", "`reduce` reduces a tile, found the scalar i32"},
          {"let v = @{scan(zeros(f32, [2, 4]), 0, add)}@", "`scan` of rank 2 needs an axis",
           "write axis=...; only at rank 1 may it be left out"},
      },
      fns);
  expectError(kernelParts("let v = reduce(iota(8), 0, writes)\nstore(y[0, 0], 1)",
                          "fn writes(p, q) {\n@{print(\"x\")}@\np\n}\n"),
              "`print` has an effect, which is not allowed in a combiner", "", "in this call of `writes`");
  expectError(kernelParts("let v = reduce(iota(8), 0, reads)\nstore(y[0, 0], 1)",
                          "fn reads(p, q) { @{load(h[0])}@ }\n"),
              "memory is not accessed in a combiner", "", "in this call of `reads`");
  expectError(
      kernelParts("let v = reduce(iota(8), 0, other)\nstore(y[0, 0], 1)", "fn other(p, q) { @{f32(p)}@ }\n"),
      "the result of `other` has dtype f32, expected index", "convert it: index(...)");
}

TEST_CASE("matrix products") {
  CHECK(kernelText("let a = zeros(f16, [16, 32])\nlet v = mma(a, a.T, zeros(f32, [16, 16]))") ==
        "let a.0 = broadcast(0.0:f16):f16[16, 32]\nlet v.1 = mma(a.0, permute(a.0, [1, 0]):f16[32, 16], "
        "broadcast(0.0:f32):f32[16, 16]):f32[16, 16]\n");
  CHECK(kernelText("let a = zeros(f32, [16, 16])\nlet v = mma(a, a, a, precision=tf32)")
            .find("mma(a.0, a.0, a.0, tf32)") != std::string::npos);
  CHECK(kernelText("let a = zeros(f8e4m3, [2, 16, 16])\nlet v = mma(a, zeros(f8e5m2, [2, 16, 16]), "
                   "zeros(f32, [2, 16, 16]))")
            .find("promoted") != std::string::npos);
  CHECK(kernelText("let a = zeros(f8e4m3, [16, 32])\nlet v = mma_scaled(a, zeros(f32, [16, 1]), a.T, "
                   "zeros(f32, [1, 16]), zeros(f32, [16, 16]))")
            .find("mma_scaled(a.0") != std::string::npos);
  expectKernelErrors({
      {"let a = zeros(f16, [16, 32])\nlet v = @{mma(a, a, zeros(f32, [16, 16]))}@",
       "`mma` of f16[16, 32] and f16[16, 32]: a's last extent must be b's first",
       "shapes are [M, K] and [K, N]; .T swaps two axes"},
      {"let a = zeros(f16, [16])\nlet v = @{mma(a, a, a)}@",
       "`mma` of f16[16] and f16[16]: both need two axes, or equal leading axes before them",
       "shapes are [M, K] and [K, N]; .T swaps two axes"},
      {"let v = @{mma(zeros(f16, [16, 16]), zeros(bf16, [16, 16]), zeros(f32, [16, 16]))}@",
       "`mma` of f16[16, 16] and bf16[16, 16]: these dtypes have no product",
       "both must be f16, bf16, f32, f64, i8, or f8 of either kind"},
      {"let a = zeros(f16, [16, 16])\nlet v = mma(a, a, @{a}@)",
       "the accumulator of `mma` has dtype f16, expected f32", "convert it: f32(...)"},
      {"let a = zeros(f16, [16, 16])\nlet v = mma(a, a, @{zeros(f32, [16, 8])}@)",
       "the accumulator of `mma` has type f32[16, 8], expected f32[16, 16]"},
      {"let a = zeros(f32, [16, 16])\nlet v = mma(a, a, a, precision=@{fast}@)",
       "`precision=fast` does not apply to f32",
       "f32 takes ieee, tf32 or tf32x3; f8 takes promoted or fast; others take none"},
      {"let a = zeros(f32, [16, 16])\nlet v = mma(a, a, a, precision=@{half}@)", "unknown precision",
       "f32 takes ieee, tf32 or tf32x3; f8 takes promoted or fast; others take none"},
      {"let v = @{zeros(f32, [16, 16]) @ zeros(f32, [16, 16])}@", "`@` belongs to references",
       "in a kernel write mma(a, b, acc)"},
      {"let a = zeros(f16, [16, 16])\nlet v = @{mma_scaled(a, a, a, a, a)}@",
       "`mma_scaled` of f16[16, 16] and f16[16, 16]: both must be f8"},
      {"let a = zeros(f8e4m3, [16, 32])\nlet v = @{mma_scaled(a, a, a, a, a)}@",
       "`mma_scaled` of f8e4m3[16, 32] and f8e4m3[16, 32]: shapes must be [M, K] and [K, N]"},
      {"let a = zeros(f8e4m3, [32, 32])\nlet r = zeros(f32, [32, 32])\nlet v = mma_scaled(a, @{r}@, a, r, r)",
       "the scales have type f32[32, 32], expected f32, one a block of 16 or 32 along K",
       "for a of [M, K] they are [M, K/32] or [M, K/16]"},
      {"let a = zeros(f8e4m3, [32, 32])\nlet r = zeros(f32, [32, 1])\nlet v = mma_scaled(a, r, a, r.T, "
       "@{r}@)",
       "the accumulator of `mma_scaled` has type f32[32, 1], expected f32[32, 32]"},
  });
}

TEST_CASE("random numbers") {
  CHECK(kernelText("let v = philox(7, n + iota(8), bits=8)").find("bits") == std::string::npos);
  CHECK(kernelText("let v = philox(seed, iota(8), bits=8)") ==
        "let v.0 = philox(seed, iota():index[8], [8]):u8[8]\n");
  CHECK(kernelText("let v = uniform(seed, N)") == "let v.0 = uniform(seed, N, [32]):f32\n");
  expectKernelErrors({
      {"let v = philox(seed, iota(8), bits=@{12}@)", "`bits` is 12, expected 32, 16 or 8"},
      {"let v = philox(@{eps}@, iota(8))", "the seed of `philox` must be an integer, found f32"},
      {"let v = uniform(seed, @{eps}@)", "the counter of `uniform` must be an integer, found f32"},
      {"let v = uniform(@{iota(8)}@, 1)", "the seed of `uniform` must be a scalar, found index[8]"},
  });
}

TEST_CASE("program and facts") {
  CHECK(kernelText("let (i, j) = swizzle(block(0), 4, N, 8)").find("let j.") != std::string::npos);
  CHECK(kernelText("let i = blocks()\nlet v = num_blocks(0) + sm_count()") ==
        "let i.0 = block_id(0):index\nlet v.1 = add(num_blocks(0):index, sm_count():index):index\n");
  CHECK(kernelText("assume(N % 8 == 0)\nassert(n > 0, \"positive\")\nprint(\"{} of {}\", n, iota(8))") ==
        "assume(eq(mod(N, 8:index):index, 0:index):bool, \"N % 8 == 0\")\nassert(gt(n, 0:i32):bool, "
        "\"positive\")\nprint(n, iota():index[8], \"{} of {}\")\n");
  CHECK(kernelText(
            "let t = zeros(f32, [8])\nlet v = inline_ptx(\"ex2.approx.f32 $0, $1;\", t) reference exp2(t)") ==
        "let t.0 = broadcast(0.0:f32):f32[8]\nlet v.2 = inline_ptx(t.0, \"ex2.approx.f32 $0, $1;\", (t.1) => "
        "exp2(t.1):f32):f32[8]\n");
  expectKernelErrors({
      {"let v = swizzle(block(0), 4, 4, @{0}@)", "the group of `swizzle` is 0, expected a positive one"},
      {"let v = num_blocks(@{N}@)", "the axis must be a compile-time integer, found a run-time value"},
      {"print(@{\"{}\"}@)", "`print` has 1 places {} for 0 values"},
      {"print(@{n}@)", "the format of `print` must be a string in quotes"},
      {"assert(@{n}@)", "`assert` must be bool, found i32", "compare it, e.g. x != 0"},
      {"assert(n > 1, @{n}@)", "the text of `assert` must be a string in quotes"},
      {"let v = inline_ptx(\"x\", n) reference @{eps}@ + n", "unknown name `eps`",
       "the meaning of inline_ptx sees only its operands, by the names that they have"},
  });
}
