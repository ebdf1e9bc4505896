// SPDX-License-Identifier: MIT
// Runs as a whole: plans, lists, optional tensors, inouts, atomics, control flow, choice of kernels, refused calls, widened references.
#include "tests/unit/interpreter/Spec.h"
#include "tests/unit/interpreter/Tree.h"
#include <catch2/catch.hpp>

using namespace tilegym;
using namespace tilegym::interp;
using namespace tilegym::interp::test;

namespace {

using D = std::vector<double>;
using N = std::vector<int64_t>;

HostTensor row(D values) {
  const int64_t n = int64_t(values.size());
  return HostTensor::fromDoubles(DType::F32, {n}, values);
}

const std::string caseOfN = "test { case \"one\" { N = 1; x = [0]; expect y = [0] }\n tolerance { f32: 0 } "
                            "}\nbench none \"a test\"\n";

std::string firstMessage(const std::vector<Fault> &faults) { return faults.empty() ? "" : faults[0].message; }

} // namespace

TEST_CASE("a plan: scratch, ordered launches, host integers") {
  const std::string text = "op t(x: f32[N]) -> y: f32[1]\nreference { y = reshape(sum(x), [1]) }\n"
                           "kernel partial(p: f32[S], each: i32) {\n grid(S)\n let b = block(0)\n let first "
                           "= b * index(each)\n var s = f32(0)\n"
                           " for c in first .. min(first + index(each), N) step 4 { s = s + sum(load(x[first "
                           ": min(first + index(each), N)][c - first :+ 4])) }\n"
                           " store(p[b], s)\n}\n"
                           "kernel combine(p: f32[S]) {\n grid(1)\n var s = f32(0)\n for c in 0 .. S { s = s "
                           "+ load(p[c]) }\n store(y[0], s)\n}\n"
                           "plan split() {\n let S = cdiv(N, 10)\n scratch p: f32[S]\n launch partial(p = p, "
                           "each = 10)\n launch combine(p = p)\n}\n"
                           "test { case \"one\" { N = 1; x = [0]; expect y = [0] }\n tolerance { f32: 0 } "
                           "}\nbench none \"a test\"\n";
  std::string errors;
  auto op = analyzeText(text, &errors);
  INFO(errors);
  REQUIRE(op);
  Call call(op);
  HostTensor x = HostTensor::allocate(DType::F32, {33});
  for (int64_t i = 0; i < 33; ++i)
    x.set(i, double(i));
  call.tensor("x", x);
  CHECK(call.values(call.kernel("split", {}, {}, true), "y") == D{528});
  CHECK(call.values(call.reference(), "y") == D{528});
}

TEST_CASE("what a launch gives must have the extents that the kernel's types say") {
  auto message = [](const std::string &types, const std::string &given, int64_t n) {
    const std::string text = "op t(x: f32[N]) -> y: f32[N]\nreference { y = x }\n"
                             "kernel part(" +
                             types +
                             ") {\n grid(1)\n store(y[0 :+ 8], load(x[0 :+ 8]))\n}\n"
                             "plan q() {\n scratch s: f32[cdiv(N, 2)]\n launch part(" +
                             given + ")\n}\n" + caseOfN;
    std::string errors;
    auto op = analyzeText(text, &errors);
    INFO(errors);
    REQUIRE(op);
    Call call(op);
    call.tensor("x", noise(DType::F32, {n}));
    RunResult result = call.kernel("q");
    if (result.ok())
      return std::string();
    CHECK(result.faults[0].kind == Fault::Arguments);
    REQUIRE(result.faults[0].range.file);
    CHECK(result.faults[0].range.file->text().substr(result.faults[0].range.begin, 11) == "launch part");
    return firstMessage(result.faults);
  };
  CHECK(message("p: f32[N]", "p = s", 4) ==
        "the parameter 'p' of 'part' takes an extent of 4 along axis 0, found 2");
  CHECK(message("p: f32[N]", "p = s", 1) == "");
  CHECK(message("p: f32[K], q: f32[K]", "p = x, q = s", 4) ==
        "the parameter 'q' of 'part' takes an extent of 4 along axis 0, found 2");
  CHECK(message("p: f32[K], n: i32", "p = x[1 : 9], n = 1", 4) == "");
  CHECK(message("p: f32[8]", "p = x[1 : 9]", 4) == "");
  CHECK(message("n: i32, p: f32[index(n)]", "p = x[1 : N + 9], n = 3", 4) == "");
  CHECK(message("n: i32, p: f32[index(n)]", "p = x[1 : N + 9], n = 8", 4) ==
        "the parameter 'p' of 'part' takes an extent of 8 along axis 0, found 3");
  CHECK(message("p: f32[K], q: f32[K]", "p = x[3 : N - 2], q = x[N : N]", 4) == "");
}

TEST_CASE("scratch that nothing wrote") {
  const std::string text =
      "op t(x: f32[N]) -> y: f32[N]\nreference { y = x }\n"
      "kernel reads(p: f32[N]) {\n grid(N)\n let i = block(0)\n store(y[i], load(p[i]) + load(x[i]))\n}\n"
      "plan q() {\n scratch p: f32[N]\n launch reads(p = p)\n}\n" +
      caseOfN;
  Call call(text);
  call.tensor("x", row({1, 2}));
  RunResult result = call.kernel("q");
  REQUIRE_FALSE(result.ok());
  CHECK(result.faults[0].kind == Fault::Uninitialized);
  CHECK(result.faults[0].tensor == "p");
  CHECK(result.faults[0].kernel == "reads");
}

TEST_CASE("lists: a dim for each element, sums in the grid") {
  const std::string text =
      "op t(list a: f32[M[]], s: f32) -> list y: f32[M[]]\nreference { for g in 0 .. len(a) { y[g] = a[g] * "
      "s } }\n"
      "kernel k() {\n grid(sum(g in 0 .. len(a): cdiv(M[g], 4)))\n var b = block(0)\n var g = 0\n"
      " while b >= cdiv(M[g], 4) { b = b - cdiv(M[g], 4); g = g + 1 }\n"
      " store(y[g].tile(4)[b], load(a[g].tile(4)[b]) * s)\n}\n"
      "test { case \"one\" { M = [1]; a = [[0]]; s = 1; expect y = [[0]] }\n tolerance { f32: 0 } }\nbench "
      "none \"a test\"\n";
  std::string errors;
  auto op = analyzeText(text, &errors);
  INFO(errors);
  REQUIRE(op);
  Call call(op);
  call.tensor("a", row({1, 2, 3, 4, 5}))
      .tensor("a", row({}))
      .tensor("a", row({7}))
      .scalar("s", sem::Constant{2.0});
  for (bool kernel : {false, true}) {
    RunResult result = kernel ? call.kernel("k") : call.reference();
    INFO(describe(result.faults));
    REQUIRE(result.ok());
    const auto &list = result.tensors[size_t(op->findTensor("y"))];
    REQUIRE(list.size() == 3);
    CHECK(list[0].toDoubles() == D{2, 4, 6, 8, 10});
    CHECK(list[1].toDoubles().empty());
    CHECK(list[2].toDoubles() == D{14});
  }
}

TEST_CASE("optional tensors: variants with and without") {
  const std::string text =
      "op t(x: f32[N], w: f32[N]?) -> (y: f32[N], z: f32[N]?)\n"
      "reference {\n const if present(w) { y = x * w } else { y = x }\n const if present(z) { z = x + x "
      "}\n}\n"
      "kernel k() {\n grid(1)\n let t = load(x[0 :+ 4])\n"
      " const if present(w) { store(y[0 :+ 4], t * load(w[0 :+ 4])) } else { store(y[0 :+ 4], t) }\n"
      " const if present(z) { store(z[0 :+ 4], t + t) }\n}\n" +
      caseOfN;
  for (bool weighted : {false, true})
    for (bool doubled : {false, true}) {
      Call call(text);
      call.tensor("x", row({1, 2})).ask("z", doubled);
      if (weighted)
        call.tensor("w", row({3, 5}));
      for (bool kernel : {false, true}) {
        RunResult result = kernel ? call.kernel("k") : call.reference();
        CHECK(call.values(result, "y") == (weighted ? D{3, 10} : D{1, 2}));
        CHECK(result.tensors[size_t(call.op->findTensor("z"))].size() == (doubled ? 1 : 0));
        if (doubled)
          CHECK(call.values(result, "z") == D{2, 4});
      }
    }
}

TEST_CASE("an inout is copied unless asked for in place") {
  const std::string text =
      "op t(inout x: f32[N])\nreference { x = x + x }\nkernel k() {\n grid(N)\n let i = block(0)\n"
      " let t = load(x[i])\n store(x[i], t + t)\n}\n"
      "test { case \"one\" { N = 1; x = [0]; expect x = [0] }\n tolerance { f32: 0 } }\nbench none \"a "
      "test\"\n";
  for (bool inPlace : {false, true}) {
    Call call(text);
    HostTensor x = row({1, 2});
    call.tensor("x", x);
    RunOptions options;
    options.inPlace = inPlace;
    CHECK(call.values(call.kernel("k", {}, options), "x") == D{2, 4});
    CHECK(x.toDoubles() == (inPlace ? D{2, 4} : D{1, 2}));
  }
}

TEST_CASE("atomics on a filled output, from many blocks at once") {
  const std::string op =
      "op t(x: i32[N]) -> (h: i32[4] = 0, low: i32[1] = 1000, first: i32[1] = -1, bits: u32[1] = 0)\n"
      "reference {\n for i in 0 .. N { h[x[i]] = h[x[i]] + 1 }\n low = min(x)[None]; first = full(0, i32, "
      "[1]); bits = full(1, u32, [1])\n}\n"
      "kernel k() {\n grid(cdiv(N, 8))\n let i = block(0) * 8 + iota(8)\n let v = load(x[i], mask=i < N)\n"
      " atomic_add(h[v], full(1, i32, [8]), mask=i < N)\n"
      " atomic_min(low[0], min(select(i < N, v, 1000)))\n atomic_cas(first[0], i32(-1), i32(0))\n "
      "atomic_or(bits[0], u32(1))\n}\n"
      "test { case \"one\" { N = 1; x = [0]; expect h = [1, 0, 0, 0] }\n tolerance { i32: 0; u32: 0 } "
      "}\nbench none \"a test\"\n";
  std::string errors;
  auto model = analyzeText(op, &errors);
  INFO(errors);
  REQUIRE(model);
  Call call(model);
  HostTensor x = HostTensor::allocate(DType::I32, {1000});
  for (int64_t i = 0; i < 1000; ++i)
    x.setInt(i, i % 7 % 4);
  call.tensor("x", x);
  RunResult result = call.kernel("k", {}, {}, true), expected = call.reference();
  for (const char *output : {"h", "low", "first", "bits"})
    CHECK(call.values(result, output) == call.values(expected, output));
  CHECK(call.values(result, "h") == D{286, 286, 285, 143});
}

TEST_CASE("control flow: while, break, continue, return, nested loops") {
  const std::string text = "op t(x: f32[N]) -> y: f32[N]\nreference { y = x }\nkernel k() {\n grid(N)\n let "
                           "i = block(0)\n var n = 0\n var total = 0\n"
                           " while true {\n  n = n + 1\n  if n > 6 { break }\n  if n % 2 == 1 { continue }\n"
                           "  for j in 0 .. 10 step 3 { if j > 5 { break }\n total = total + j }\n }\n"
                           " if i == 1 { store(y[i], f32(-1)); return }\n store(y[i], f32(total))\n}\n" +
                           caseOfN;
  Call call(text);
  call.tensor("x", row({0, 0}));
  CHECK(call.values(call.kernel("k"), "y") == D{9, -1}); // n = 2, 4, 6: 0 + 3 each
}

TEST_CASE("block, num_blocks, sm_count and print") {
  const std::string text =
      "op t(x: f32[N]) -> y: f32[N]\nreference { y = x }\nkernel k() {\n grid(2, N // 2)\n let (i, j) = "
      "blocks()\n"
      " print(\"block {} {} of {} on {}: {}\", i, j, num_blocks(1), sm_count(), iota(4))\n"
      " store(y[j * num_blocks(0) + i], f32(i) + 10 * f32(j))\n}\n" +
      caseOfN;
  Call call(text);
  call.tensor("x", row({0, 0, 0, 0}));
  std::vector<std::string> lines;
  RunOptions options;
  options.print = [&](const std::string &line) { lines.push_back(line); };
  CHECK(call.values(call.kernel("k", {}, options), "y") == D{0, 1, 10, 11});
  REQUIRE(lines.size() == 4);
  CHECK(lines[3] == "block 1 1 of 2 on 3: [0, 1, 2, 3]");
}

TEST_CASE("a reference writes regions and reads what it wrote") {
  const std::string text = "op t(x: f32[N]) -> y: f32[N]\n"
                           "reference {\n for i in 0 .. N {\n  if i == 0 { y[0] = x[0] } else { y[i] = y[i - "
                           "1] * 2.0 + x[i] }\n }\n}\n"
                           "kernel k() {\n grid(1)\n var s = f32(0)\n for i in 0 .. N { s = s * 2.0 + "
                           "load(x[i]); store(y[i], s) }\n}\n" +
                           caseOfN;
  Call call(text);
  call.tensor("x", row({1, 1, 1}));
  CHECK(call.values(call.reference(), "y") == D{1, 3, 7});
  CHECK(call.values(call.kernel("k"), "y") == D{1, 3, 7});
}

TEST_CASE("kernels are chosen by their guards, derived parameters are computed") {
  Call call(analyzeText(readFile(std::string(TILEGYM_SOURCE_DIR) + "/specs/softmax.tile")));
  call.tensor("x", noise(DType::F16, {3, 1000}));
  std::vector<Fault> faults;
  CHECK(eligibleKernels(*call.op, call.interface(), call.args, faults) == N{0, 1});
  CHECK(deriveParams(*call.op, call.interface(), 0, call.args, faults)->params ==
        std::vector<sem::NamedInt>{{"BN", 1024}});
  call.args.tensors[0] = {noise(DType::F16, {1, 262145})};
  CHECK(eligibleKernels(*call.op, call.interface(), call.args, faults) == N{1});
  CHECK(faults.empty());
}

TEST_CASE("calls that do not fit the signature are refused") {
  const std::string op =
      "op t(x: T[M, N], w: T[N], const c: bool = true) -> y: T[M, N]\n where T: f32 | f16, N % 2 == 0 \"N is "
      "even\"\n"
      "reference { y = x * w }\nkernel k() {\n grid(M)\n let i = block(0)\n"
      " store(y[i, 0 :+ 4], load(x[i, 0 :+ 4]) * load(w[0 :+ 4]))\n}\n"
      "test { case \"one\" { M = 1; N = 2; x = [[0, 0]]; w = [0, 0]; expect y = [[0, 0]] }\n"
      "tolerance { f32: 0; f16: 0 } }\nbench none \"a test\"\n";
  auto model = analyzeText(op);
  auto refusal = [&](HostTensor x, HostTensor w) {
    Call call(model);
    call.tensor("x", x).tensor("w", w);
    std::vector<Fault> faults;
    CHECK_FALSE(specialize(*model, call.args, call.dtypeArguments, faults));
    CHECK(faults.at(0).kind == Fault::Arguments);
    return firstMessage(faults);
  };
  CHECK(refusal(noise(DType::F32, {2, 4}), noise(DType::F32, {3})) ==
        "'w' has extent 3 on axis 0, where N is 4");
  CHECK(refusal(noise(DType::F32, {2, 4}), noise(DType::F16, {4})) == "'w' is f16, expected f32");
  CHECK(refusal(noise(DType::F32, {2, 4, 1}), noise(DType::F32, {4})) == "'x' has rank 3, expected 2");
  CHECK(refusal(noise(DType::F32, {2, 3}), noise(DType::F32, {3})) == "the call is refused: N is even");
  CHECK(refusal(noise(DType::BF16, {2, 4}), noise(DType::BF16, {4})) == "bf16 is none of T: f32 | f16");
  HostTensor cut = noise(DType::F32, {4});
  cut.offset = 1;
  CHECK(refusal(noise(DType::F32, {2, 4}), cut) == "'w' reaches outside of its buffer");
  Call call(model);
  call.tensor("x", noise(DType::F32, {2, 4}))
      .tensor("w", noise(DType::F32, {4}))
      .tensor("y", noise(DType::F32, {2, 3}));
  CHECK(firstMessage(call.kernel("k").faults) == "output 'y' is f32[2, 3], expected f32[2, 4]");
  call.args.tensors[1].clear();
  std::vector<Fault> faults;
  CHECK_FALSE(specialize(*model, call.args, call.dtypeArguments, faults));
  CHECK(firstMessage(faults) == "'w' was not given");
}

TEST_CASE("a widened reference computes in f64") {
  Call call(analyzeText(readFile(std::string(TILEGYM_SOURCE_DIR) + "/specs/vector_add.tile")));
  call.tensor("x", HostTensor::fromDoubles(DType::F16, {1}, {1}))
      .tensor("y", HostTensor::fromDoubles(DType::F16, {1}, {1}));
  DiagnosticSink sink;
  auto reference = sem::instantiateReference(*call.op, call.interface(), sink);
  REQUIRE(reference);
  sem::Reference wide = widenFloats(*reference);
  Arguments args;
  args.tensors = {{HostTensor::fromDoubles(DType::F64, {1}, {1})},
                  {HostTensor::fromDoubles(DType::F64, {1}, {1e-12})},
                  {}};
  RunResult result = runReference(*call.op, wide, args);
  INFO(describe(result.faults));
  REQUIRE(result.ok());
  CHECK(result.tensors[2][0].dtype == DType::F64);
  CHECK(result.tensors[2][0].asDouble(0) == 1 + 1e-12);
}

TEST_CASE("threads and orders change nothing") {
  Call call(analyzeText(readFile(std::string(TILEGYM_SOURCE_DIR) + "/specs/rms_norm.tile")));
  call.tensor("x", noise(DType::BF16, {37, 100})).tensor("weight", noise(DType::BF16, {100})).ask("rstd");
  RunOptions one;
  one.threads = 1;
  RunResult base = call.kernel("streaming", {{"BN", 32}}, one);
  for (unsigned threads : {1u, 2u, 4u})
    for (BlockOrder order : {BlockOrder::InOrder, BlockOrder::Reversed, BlockOrder::Shuffled}) {
      RunOptions options;
      options.threads = threads;
      options.order = order;
      RunResult result = call.kernel("streaming", {{"BN", 32}}, options);
      CHECK(call.values(result, "y") == call.values(base, "y"));
      CHECK(call.values(result, "rstd") == call.values(base, "rstd"));
    }
}

TEST_CASE("sizes that no memory holds are a fault") {
  const std::string text =
      "op t(x: f32[N], K: i64) -> y: f32[K, K]\nreference { y = zeros(f32, [K, K]) }\n"
      "kernel k() {\n grid(1)\n store(y[0 :+ 1, 0 :+ 1], zeros(f32, [1, 1]))\n}\n"
      "test { case \"one\" { N = 1; K = 1; x = [0]; expect y = [[0]] }\n tolerance { f32: 0 } }\n"
      "bench none \"a test\"\n";
  for (int64_t k : {int64_t(1) << 20, int64_t(1) << 33}) {
    Call call(text);
    call.tensor("x", row({0})).scalar("K", sem::Constant{k});
    RunResult result = call.kernel("k");
    REQUIRE_FALSE(result.ok());
    CHECK(result.faults[0].kind == Fault::OutOfMemory);
  }
  Fault fault = test::faultOf([] { Value(DType::F32, Shape{int64_t(1) << 40, int64_t(1) << 40}); });
  CHECK(fault.kind == Fault::OutOfMemory);
  CHECK(Value(DType::F32, Shape{int64_t(1) << 40, int64_t(1) << 40, 0}).count() == 0);
}

TEST_CASE("large race-free kernels run once, those with atomics in every order") {
  // The print counts the blocks that ran.
  auto blocksRun = [](const std::string &body, int64_t n) {
    Call call("op t(x: f32[N]) -> (y: f32[N], c: i32[1] = 0)\nreference { y = x; c = c }\nkernel k() {\n "
              "grid(1)\n print(\"ran\")\n" +
              body +
              "\n for i in 0 .. N step 4096 { store(y[i :+ 4096], load(x[i :+ 4096])) }\n}\n"
              "test { case \"one\" { N = 1; x = [0]; expect y = [0] }\n tolerance { f32: 0; i32: 0 } "
              "}\nbench none \"a test\"\n");
    call.tensor("x", HostTensor::allocate(DType::F32, {n}));
    int lines = 0;
    RunOptions options;
    options.print = [&](const std::string &) { ++lines; };
    RunResult result = call.kernel("k", {}, options, true);
    INFO(describe(result.faults));
    CHECK(result.ok());
    return lines;
  };
  CHECK(blocksRun("", 100) == 3);
  CHECK(blocksRun("", 100000) == 1);
  CHECK(blocksRun("atomic_add(c[0], i32(1))", 100000) == 3);
}

TEST_CASE("shapes of outputs and host expressions of a call") {
  const std::string text =
      "op t(x: f32[*R, N], n: i32) -> (y: f32[*R, 2 * N], z: f32[n], w: f32[cdiv(N, 2)]?)\n"
      "reference { y = cat(x, x, axis=1); z = zeros(f32, [index(n)]); const if present(w) { w = zeros(f32, "
      "[cdiv(N, 2)]) } }\n"
      "kernel k() when R * N > 10 {\n grid(cdiv(R, 4), sm_count())\n}\n"
      "test { case \"one\" { R = 1; N = 1; n = 1; x = [[0]]; expect z = [0] }\n tolerance { f32: 0 } "
      "}\nbench none \"a test\"\n";
  Call call(text);
  call.tensor("x", noise(DType::F32, {2, 3, 5})).scalar("n", sem::Constant{int64_t(7)}).ask("w", false);
  std::vector<Fault> faults;
  auto shapes = outputShapes(*call.op, call.interface(), call.args, faults);
  INFO(describe(faults));
  REQUIRE(shapes);
  CHECK((*shapes)[1] == std::vector<Dims>{{2, 3, 10}});
  CHECK((*shapes)[2] == std::vector<Dims>{{7}});
  CHECK((*shapes)[3].empty());
  auto dims = bindDims(*call.op, call.interface(), call.args, faults);
  REQUIRE(dims);
  CHECK(dims->values == N{6, 5});
  auto guard = evaluateHost(*call.op, call.interface(), *dims, call.args, call.op->kernels[0].guard, faults);
  REQUIRE(guard);
  CHECK(guard->asBool());
  call.scalar("n", sem::Constant{int64_t(-1)});
  CHECK_FALSE(outputShapes(*call.op, call.interface(), call.args, faults));
  CHECK(firstMessage(faults) == "output 'z' would have an extent of -1");
}

TEST_CASE("lists that share a dim have equal length") {
  const std::string text = "op t(list a: f32[M[]], list b: f32[M[]]) -> list y: f32[M[]]\n"
                           "reference { for g in 0 .. len(a) { y[g] = a[g] + b[g] } }\nkernel k() {\n "
                           "grid(len(a))\n let g = block(0)\n"
                           " store(y[g][0 :+ 4], load(a[g][0 :+ 4]) + load(b[g][0 :+ 4]))\n}\n"
                           "test { case \"one\" { M = [1]; a = [[0]]; b = [[0]]; expect y = [[0]] }\n "
                           "tolerance { f32: 0 } }\nbench none \"a test\"\n";
  for (size_t given : {0, 1, 2}) {
    Call call(text);
    for (size_t i = 0; i < given; ++i)
      call.tensor("a", row({1, 2}));
    call.tensor("b", row({1, 2})).tensor("b", row({3, 4}));
    std::vector<Fault> faults;
    CHECK(specialize(*call.op, call.args, call.dtypeArguments, faults).has_value() == (given == 2));
    if (given != 2)
      CHECK(firstMessage(faults) ==
            "list 'b' has 2 tensors, where dim M belongs to lists of " + std::to_string(given));
  }
}
