// SPDX-License-Identifier: MIT
// Views, indexing and memory: what regions become, and every way of getting one wrong.
#include "BodyTesting.h"

using namespace tilegym::sem::testing;

TEST_CASE("the four kinds of index") {
  CHECK(kernelText("let v = load(x[3, N - 1])") ==
        "let v.0 = load(view_index(x, [3:index, sub(N, 1:index):index])[], 0.0:f32):f32\n");
  CHECK(kernelText("let v = load(x[n, 8 :+ BN])") ==
        "let v.0 = load(view_index(x, [convert(n, exact):index, 8:index :+ 64])[64], 0.0:f32):f32[64]\n");
  CHECK(kernelText("let r = load(ids[0, 0 :+ 8])\nlet v = load(x[r, 0 :+ 16])") ==
        "let r.0 = load(view_index(ids, [0:index, 0:index :+ 8])[8], 0:i32):i32[8]\n"
        "let v.1 = load(view_index(x, [gather convert(r.0):index[8], 0:index :+ 16])[8, 16], 0.0:f32):f32[8, "
        "16]\n");
  CHECK(kernelText("let v = load(x[iota(8)[:, None], iota(4)[None, :]])") ==
        "let v.0 = load(view_index(x, [gather reshape(iota():index[8]):index[8, 1], gather "
        "reshape(iota():index[4]):index[1, 4]])[8, 4], 0.0:f32):f32[8, 4]\n");
  CHECK(kernelText("let A = x[2 : n, :]\nlet v = load(A[0 :+ 8, 1])") ==
        "let A.0 = view_index(x, [2:index : convert(n, exact):index, :])[?, ?]\nlet v.1 = "
        "load(view_index(A.0, [0:index :+ 8, 1:index])[8], 0.0:f32):f32[8]\n");
  CHECK(kernelText("let v = load(b[1])") ==
        "let v.0 = load(view_index(b, [1:index, :])[64], 0.0:f32):f32[64]\n");
}

TEST_CASE("tiles of a view, permuted views") {
  CHECK(kernelText("let v = load(x.tile(BM, 16)[1, n])") ==
        "let v.0 = load(view_index(view_tile(x, [32, 16])[?, ?], [1:index, convert(n, exact):index])[32, "
        "16], 0.0:f32):f32[32, 16]\n");
  CHECK(kernelText("let v = load(x.T.tile(8, 4)[0, 0])") ==
        "let v.0 = load(view_index(view_tile(view_permute(x, [1, 0])[?, ?], [8, 4])[?, ?], [0:index, "
        "0:index])[8, 4], 0.0:f32):f32[8, 4]\n");
  CHECK(kernelText("let v = load(x.tile(8, 4)[0, 0]).T") ==
        "let v.0 = permute(load(view_index(view_tile(x, [8, 4])[?, ?], [0:index, 0:index])[8, 4], "
        "0.0:f32):f32[8, 4], [1, 0]):f32[4, 8]\n");
  CHECK(kernelText("let v = load(x.permute(1, 0)[0 :+ 8, 0])") ==
        kernelText("let v = load(permute(x, [1, 0])[0 :+ 8, 0])"));
}

TEST_CASE("gathers stand where the first of them was") {
  Parts parts;
  parts.signature.replace(parts.signature.find("x: T[M, N],"), 11, "x: T[M, N], z: f32[M, B, 4, D],");
  auto shapeOf = [&](const std::string &index) {
    Parts with = parts;
    with.kernels = kernelParts("let v = load(z" + index + ")\nstore(y[0, 0], 0)").kernels;
    std::string text = checkedText(with);
    size_t let = text.find("let v.");
    if (let == std::string::npos)
      return text;
    text = text.substr(let, text.find('\n', let) - let);
    return text.substr(text.rfind(':'));
  };
  CHECK(shapeOf("[0, 0 :+ 8, iota(2), 0 :+ 16]") == ":f32[8, 2, 16]");
  CHECK(shapeOf("[iota(2), 0 :+ 8, 1, 0 :+ 16]") == ":f32[2, 8, 16]");
  CHECK(shapeOf("[0 :+ 8, iota(2), 1, iota(2)]") == ":f32[8, 2]");
  CHECK(shapeOf("[iota(2), iota(4)[:, None], 0 :+ 4, 0 :+ 8]") == ":f32[4, 2, 4, 8]");
  CHECK(shapeOf("[0, 0]") == ":f32[4, 64]");
}

TEST_CASE("load, store, atomics") {
  CHECK(kernelText("let v = load(x[0, 0 :+ 8], pad=-inf, mask=iota(8) < n)") ==
        "let v.0 = load(view_index(x, [0:index, 0:index :+ 8])[8], -inf:f32, lt(convert(iota():index[8], "
        "exact):i32[8], broadcast(n):i32[8]):bool[8], "
        "masked):f32[8]\n");
  CHECK(kernelText("store(state[0, 0 :+ 8], eps, mask=flag)") ==
        "store(view_index(state, [0:index, 0:index :+ 8])[8], broadcast(eps):f32[8], "
        "broadcast(false:bool):bool[8], masked)\n");
  CHECK(kernelText("let old = atomic_add(h[n], 2)\natomic_cas(h[iota(4)], 0, 1)") ==
        "let old.0 = atomic_add(view_index(h, [convert(n, exact):index])[], 2:i32):i32\n"
        "let old.1 = atomic_cas(view_index(h, [gather iota():index[4]])[4], broadcast(0:i32):i32[4], "
        "broadcast(1:i32):i32[4]):i32[4]\n");
  // A read of what the kernel may write happens where it stands.
  CHECK(kernelText("store(g[0], load(state[0, 0]) + load(x[0, 0]))") ==
        "let loaded.0 = load(view_index(state, [0:index, 0:index])[], 0.0:f32):f32\n"
        "store(view_index(g, [0:index])[], add(loaded.0, load(view_index(x, [0:index, 0:index])[], "
        "0.0:f32):f32):f32)\n");
}

TEST_CASE("lists") {
  CHECK(kernelText("let v = load(la[n][0, 0 :+ 8])\nlet w3 = P[1] + len(la)") ==
        "let v.0 = load(view_index(la[convert(n, exact):index], [0:index, 0:index :+ 8])[8], "
        "0.0:f32):f32[8]\nlet w3.1 = add(P[1:index], len(la)):index\n");
  CHECK(kernelText("let v = sum(i in 0 .. len(la): P[i] * 2)") ==
        "let v.1 = list_sum(0:index, len(la), (i.0) => mul(P[i.0], 2:index):index):index\n");
  expectKernelErrors({
      {"let v = @{la[0, 1]}@", "a list takes one integer in brackets"},
      {"let v = @{P[0 :+ 4]}@", "a dim of list elements takes one integer in brackets"},
      {"let v = len(@{x}@)", "`len` counts the tensors of a list",
       "extents of a tensor are the dims of its declaration"},
      {"let v = @{max(i in 0 .. 4: P[i])}@", "only `sum(g in lo .. hi: e)` takes a range"},
      {"let v = (1, 2)[@{2}@]", "a tuple of 2 has no element 2"},
  });
}

TEST_CASE("index errors") {
  expectKernelErrors({
      {"let v = load(@{x[0, 0, 0]}@)", "an index of 3 axes on view f32[?, ?], which has 2"},
      {"let v = load(x[0, @{-1}@])", "index -1 is outside of the axis",
       "count from the front: write N - 1 for the last of N"},
      {"let v = load(b[0, @{128}@])", "index 128 is outside of an axis of extent 64"},
      {"let v = load(x[0, @{eps}@])", "an index must be an integer, found f32", "convert it: index(x)"},
      {"let v = load(x[0, @{iota(8) < 4}@])", "an index must be an integer, found bool[8]",
       "use select(mask, a, b), or mask= of load and store"},
      {"let v = load(x[0, 0 :+ @{N}@])", "the length of the range is a run-time value",
       "lengths are compile-time: a tile parameter, or a dim with listed values; a bounded view is written "
       "lo : hi"},
      {"let v = load(x[0, 0 :+ @{0}@])", "the length of the range is 0, expected a positive one"},
      {"let v = load(x[0, 0 :+ @{100}@])",
       "a tile extent of 100 is not 2^k * r with r odd and at most 15 (r > 1 only where 2^k >= 8)",
       "the nearest legal extents are 96 and 104"},
      {"let v = load(x[0, @{eps}@ :+ 8])", "the start of the range must be an integer scalar, found f32"},
      {"let v = load(x[0, @{-8}@ :+ 8])", "the start of the range is -8, which is outside of the axis",
       "count from the front: write N - 1 for the last of N"},
      {"let v = load(b[0, @{8 : 4}@])", "the range ends before it begins"},
      {"let v = load(b[0, @{8 : 400}@])", "the range ends at 400, beyond the axis of extent 64"},
      {"let v = @{x[:, None]}@", "`None` adds an axis to a value, not to a tensor",
       "load first, then index the tile: load(...)[:, None]"},
      {"let v = load(x[iota(8), @{iota(4)}@])", "integer tiles of shapes [8] and [4] do not broadcast"},
      {"let v = iota(8)[@{n}@]", "a tile is not indexed by run-time values",
       "load what is needed from memory, or pick with select and a reduction"},
      {"let v = iota(8)[@{8}@]", "index 8 is outside of an axis of extent 8"},
      {"let v = @{iota(16)[0 : 12]}@",
       "a tile extent of 12 is not 2^k * r with r odd and at most 15 (r > 1 only where 2^k >= 8)",
       "the nearest legal extents are 8 and 16"},
      {"let v = iota(8)[@{4 :+ 8}@]", "the index leaves index[8]"},
  });
  Parts parts = kernelParts("let v = load(z[iota(2), 0 :+ 8, @{iota(2)}@])\nstore(y[0, 0], 0)");
  parts.signature.replace(parts.signature.find("x: T[M, N],"), 11, "x: T[M, N], z: f32[M, B, 4],");
  expectError(parts, "integer tiles must index adjacent axes",
              "move the axes together first: x.permute(...)");
}

TEST_CASE("view errors") {
  expectKernelErrors({
      {"let v = @{x.tile(BM)}@", "`.tile` takes a size for each of 2 axes, found 1",
       "a size of 1 keeps an axis of extent 1; index before to drop axes: x[b, h].tile(BM, D)"},
      {"let v = x.tile(@{N}@, 4)", "a tile size must be a compile-time integer, found a run-time value"},
      {"let v = x.tile(@{100}@, 4)",
       "a tile extent of 100 is not 2^k * r with r odd and at most 15 (r > 1 only where 2^k >= 8)",
       "the nearest legal extents are 96 and 104"},
      {"let v = @{x.tile(4, 4).tile(2, 2)}@", "this view is cut into tiles already",
       "index it first: x.tile(BM, BN)[i, k]"},
      {"let v = load(@{x.tile(4, 4)}@)", "this view is cut into tiles but not indexed",
       "take one tile: x.tile(BM, BN)[i, k]"},
      {"let v = load(@{x.tile(4, 4)[0]}@)",
       "a view of rank 2 cut into tiles takes as many integers, found 1"},
      {"let v = load(x.tile(4, 4)[0, @{0 :+ 4}@])", "a view cut into tiles is indexed by whole tiles",
       "give an integer an axis: x.tile(BM, BN)[i, k]"},
      {"let v = load(x.tile(4, 4)[0, @{-1}@])", "tile -1 does not exist", "tiles count from 0"},
      {"let v = load(x.tile(4, 4)[0, @{iota(8)}@])",
       "the number of a tile must be an integer scalar, found index[8]"},
      {"let v = @{x.tile(4, 4).T}@", "a view cut into tiles does not permute",
       "permute before .tile(...), or after the index"},
      {"let v = @{x.permute(0, 0)}@", "`permute` takes each of the 2 axes once"},
      {"let v = @{g.T}@", "`.T` swaps two axes, found view f32[?]",
       "name the order of the axes: .permute(...)"},
      {"let v = x.@{shape}@", "unknown member `.shape`", "tensors have .tile(...), .permute(...) and .T"},
      {"let v = x.@{tiles}@(4, 4)", "unknown member `.tiles`", "did you mean `.tile`?"},
      {"let v = x.@{tile}@", "`.tile` is a call", "write x.tile(...)"},
      {"let v = @{iota(8).tile(4)}@", "`.tile` cuts a tensor, found index[8]",
       "use extract(...) or split(...) on a tile"},
  });
}

TEST_CASE("memory errors") {
  const char *isStatic =
      "take a range of static length (c :+ BN), a tile (x.tile(BM, BN)[i, k]) or a position";
  expectKernelErrors({
      {"let v = load(@{x}@)", "`load` of a region whose axis 0 has a run-time extent, found view f32[?, ?]",
       isStatic},
      {"let v = load(@{x[0]}@)", "`load` of a region whose axis 0 has a run-time extent, found view f32[?]",
       isStatic},
      {"let v = load(@{eps}@)", "`load` takes a region of a tensor, found f32"},
      {"let v = load(@{f32}@)", "`load` needs a value, found the dtype f32", "convert a value by it: f32(x)"},
      {"let v = load(x[0, 0 :+ 8], pad=@{n}@)", "the pad has dtype i32, expected f32",
       "convert it: f32(...)"},
      {"let v = load(x[0, 0 :+ 8], pad=@{iota(8)}@)", "the pad must be a scalar, found index[8]"},
      {"let v = load(x[0, 0 :+ 8], mask=@{n}@)", "the mask must be bool, found i32",
       "compare it, e.g. x != 0"},
      {"let v = load(x[0, 0 :+ 8], mask=@{iota(4) < 4}@)", "the mask has shape bool[4], expected bool[8]"},
      {"store(@{x[0, 0]}@, 1)", "`store` writes the input `x`",
       "declare it `inout x` if the op updates it in place"},
      {"store(y[0, 0], @{n}@)", "the stored value has dtype i32, expected f32", "convert it: f32(...)"},
      {"store(h[0], @{eps}@)", "the stored value has dtype f32, expected i32", "convert it: i32(...)"},
      {"store(h[0], @{1.5}@)", "found the float 1.5, expected i32",
       "write an integer, or convert the other side to a float"},
      {"store(y[0, 0 :+ 8], @{zeros(f32, [4])}@)", "the stored value has shape f32[4], expected f32[8]"},
      {"store(y[0, 0], @{sum(zeros(f32, [8]), axis=0)}@)", "the stored value has shape f32[1], expected f32",
       "drop axes of extent 1 by an index: v[:, 0], v[0, 0]"},
      {"let v = @{atomic_add(y[0, 0], 1)}@", "`atomic_add` on the output `y`, which has no initial value",
       "give it one in the signature: -> y: ... = 0"},
      {"let v = @{atomic_add(g[0], 1)}@",
       "float atomics add in no fixed order, so results differ from run to run",
       "write `nondeterministic` in the op's header, or reduce in fixed order"},
      {"let v = atomic_max(@{g[0]}@, 1)", "`atomic_max` does not work on f32",
       "it takes integers of 32 or 64 bits"},
      {"let v = atomic_add(@{x[0, 0]}@, 1)", "`atomic_add` writes the input `x`",
       "declare it `inout x` if the op updates it in place"},
      {"let v = @{load(s[0])}@", "the optional output `s` is read where it may be absent",
       "guard it: const if present(s) { ... }"},
  });
}
