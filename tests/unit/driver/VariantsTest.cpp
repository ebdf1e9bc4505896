// SPDX-License-Identifier: MIT
// Which variants are built: the policy of docs/architecture.md, and what it says where a target cannot hold what a spec asks for.
#include "compiler/driver/Variants.h"
#include "compiler/driver/CompileOp.h"
#include "compiler/syntax/Parser.h"
#include "llvm/Support/Error.h"
#include <catch2/catch.hpp>

using namespace tilegym;

namespace {

std::shared_ptr<const sem::OpModel> opOfText(const std::string &text) {
  DiagnosticSink sink;
  auto spec = std::make_shared<ast::Spec>(parseSpec(std::make_shared<SourceFile>("copy.tile", text), sink));
  auto op = sem::analyze(spec, {}, sink);
  INFO(renderAll(sink));
  REQUIRE(op);
  return op;
}

std::shared_ptr<const sem::OpModel> opOf(const std::string &kernels) {
  return opOfText(R"(
op copy(x: T[*R, N]) -> y: T[*R, N]
  where T: f32 | f16
reference { y = x }
)" + kernels + R"(
test { R in [1]; N in [2]; case "one" { R = 1; N = 1; x = [[1]]; expect y = [[1]] }; tolerance { f32: 0; f16: 0 } }
bench none "a test"
)");
}

const std::string resident = R"(
kernel resident(BM, BN = pow2ceil(N)) when N <= 4096 {
  grid(cdiv(R, BM))
  store(y.tile(BM, BN)[block(0), 0], load(x.tile(BM, BN)[block(0), 0]))
}
tune resident { BM in [1, 2, 4, 8, 16]; warps in [4, 8] }
)";
const std::string streaming = R"(
kernel streaming(BN) {
  grid(R)
  for c in 0 .. N step BN { store(y[block(0), c :+ BN], load(x[block(0), c :+ BN])) }
}
tune streaming { BN in [1024, 4096]; warps in [4] }
)";

/// "resident_BM8_BN128_warps4 general" for each slot of one dtype: its first candidate, or why there is none.
std::vector<std::string> slotsOf(const std::string &kernels, tile::FactKind facts, unsigned arch = 90) {
  auto op = opOf(kernels);
  DiagnosticSink sink;
  std::vector<std::string> result;
  for (const driver::VariantSlot &slot : driver::enumerateVariants(
           *op, "sm_" + std::to_string(arch), *targets::findTarget(arch), {{DType::F32}, {}}, sink))
    if (slot.facts == facts) {
      std::string name = driver::entryName(*op, slot.candidates.front(), facts);
      result.push_back(name.substr(strlen("copy_")) + (slot.spare ? " spare" : ""));
    }
  for (const Diagnostic &d : sink.all())
    result.push_back(d.message + " | " + d.help);
  return result;
}

/// What compiling says, and the number of variants.
std::string compiling(const std::string &kernels, const std::string &arch) {
  auto op = opOf(kernels);
  driver::CompileOpOptions options;
  options.archs = {llvm::cantFail(emit::parseArch(arch))};
  options.filter.dtypes = {DType::F32};
  options.cache = false;
  driver::CompileReport report;
  DiagnosticSink sink;
  driver::compileOp(op, options, report, sink);
  std::string text = std::to_string(report.variants());
  for (const Diagnostic &d : sink.all())
    text += "\n" + d.message + " | " + d.help;
  return text;
}

/// A tile turned through shared memory, all of it at once.
std::string turning(const std::string &sizes) {
  return R"(
kernel turn(BM) when N <= 4 {
  grid(1)
  let t = permute(load(x.tile(BM, 256)[0, 0]), 1, 0)
  store(y.tile(256, BM)[0, 0], t)
}
tune turn { BM in )" +
         sizes + R"(; warps = 32 }
)";
}

} // namespace

TEST_CASE(
    "a fast variant for every derived value, general ones of long rows only where nothing later takes them") {
  using Names = std::vector<std::string>;
  CHECK(slotsOf(resident + streaming, tile::FactKind::Fast) ==
        Names{"resident_f32_BM16_BN128_warps4_fast spare", "resident_f32_BM8_BN256_warps4_fast spare",
              "resident_f32_BM4_BN512_warps4_fast spare", "resident_f32_BM2_BN1024_warps4_fast spare",
              "resident_f32_BM1_BN2048_warps4_fast spare", "resident_f32_BM1_BN4096_warps8_fast spare",
              "streaming_f32_BN1024_warps4_fast"});
  // Eight elements a thread.
  Names general = {"resident_f32_BM8_BN128_warps4_general",  "resident_f32_BM4_BN256_warps4_general",
                   "resident_f32_BM2_BN512_warps4_general",  "resident_f32_BM1_BN1024_warps4_general",
                   "resident_f32_BM1_BN2048_warps8_general", "resident_f32_BM1_BN4096_warps8_general"};
  CHECK(slotsOf(resident, tile::FactKind::General) == general);
  general.resize(4);
  for (std::string &name : general)
    name += " spare";
  general.push_back("streaming_f32_BN1024_warps4_general");
  CHECK(slotsOf(resident + streaming, tile::FactKind::General) == general);
}

TEST_CASE("a dense variant for every derived value, of long rows too, where the target has clusters") {
  using Names = std::vector<std::string>;
  // Sixteen elements a thread.
  CHECK(slotsOf(resident + streaming, tile::FactKind::Dense) ==
        Names{"resident_f32_BM16_BN128_warps4_dense spare", "resident_f32_BM8_BN256_warps4_dense spare",
              "resident_f32_BM4_BN512_warps4_dense spare", "resident_f32_BM2_BN1024_warps4_dense spare",
              "resident_f32_BM1_BN2048_warps4_dense spare", "resident_f32_BM1_BN4096_warps8_dense spare",
              "streaming_f32_BN1024_warps4_dense"});
  CHECK(slotsOf(resident + streaming, tile::FactKind::Dense, 80).empty());
}

TEST_CASE("a kernel of `facts = fast` leaves what does not hold to them to later ones, which one of `facts = "
          "general` does not count as") {
  auto with = [](const std::string &facts) {
    return "kernel whole(BN) when N <= 64 { grid(R); store(y.tile(1, BN)[block(0), 0], load(x.tile(1, "
           "BN)[block(0), 0])) }\n"
           "tune whole { BN = 64; warps = 4" +
           facts + " }\n";
  };
  using tile::FactKind;
  std::string last = streaming;
  last.insert(last.rfind(" }"), "; facts = general");
  const std::string whole = "whole_f32_BN64_warps4_", loop = "streaming_f32_BN1024_warps4_";
  using Slots = std::vector<std::string>;
  CHECK(slotsOf(with("") + last, FactKind::Fast) == Slots{whole + "fast"});
  CHECK(slotsOf(with("") + last, FactKind::Dense) == Slots{whole + "dense"});
  CHECK(slotsOf(with("") + last, FactKind::General) == Slots{whole + "general", loop + "general"});
  CHECK(slotsOf(with("; facts = fast") + last, FactKind::Fast) == Slots{whole + "fast"});
  CHECK(slotsOf(with("; facts = fast") + last, FactKind::Dense) == Slots{whole + "dense"});
  CHECK(slotsOf(with("; facts = fast") + last, FactKind::General) == Slots{loop + "general"});
}

TEST_CASE("points that need clusters are for targets that have them") {
  std::string both = "kernel one(BN) { grid(1); store(y.tile(1, BN)[0, 0], load(x.tile(1, BN)[0, 0])) }\n"
                     "tune one { BN = 128; ctas in [2, 1] }\n",
              always = "kernel one(BN) { grid(1); store(y.tile(1, BN)[0, 0], load(x.tile(1, BN)[0, 0])) }\n"
                       "tune one { BN = 128; ctas = 2 }\n";
  using Names = std::vector<std::string>;
  CHECK(slotsOf(both, tile::FactKind::Fast, 90) == Names{"one_f32_BN128_ctas1_fast"});
  CHECK(slotsOf(both, tile::FactKind::Fast, 80) == Names{"one_f32_BN128_ctas1_fast"});
  CHECK(slotsOf(always, tile::FactKind::Fast, 80) ==
        Names{"every point of `tune one` needs clusters (`ctas`, `split_k`), which sm_80 does not "
              "have | give "
              "them to the targets that have: `arch sm_90a { ctas in [2, 4] }`"});
}

TEST_CASE("a cluster shares what is more than some 16 KB, what no point can hold is a later kernel's") {
  std::string rows = R"(
kernel resident(BM, BN = pow2ceil(N)) when (N <= 524288) & (N > 4096) {
  grid(cdiv(R, BM))
  store(y.tile(BM, BN)[block(0), 0], load(x.tile(BM, BN)[block(0), 0]))
}
tune resident { BM = 1; warps in [8, 16]; ctas in [1, 2, 4, 8] }
)";
  using Names = std::vector<std::string>;
  CHECK(slotsOf(rows + streaming, tile::FactKind::Fast, 90) ==
        Names{"resident_f32_BM1_BN8192_warps8_ctas2_fast spare",
              "resident_f32_BM1_BN16384_warps8_ctas4_fast spare",
              "resident_f32_BM1_BN32768_warps8_ctas8_fast spare",
              "resident_f32_BM1_BN65536_warps16_ctas8_fast spare",
              "resident_f32_BM1_BN131072_warps16_ctas8_fast spare",
              "resident_f32_BM1_BN262144_warps16_ctas8_fast spare", "streaming_f32_BN1024_warps4_fast"});
  CHECK(slotsOf(rows + streaming, tile::FactKind::Fast, 80) ==
        Names{"resident_f32_BM1_BN8192_warps16_ctas1_fast spare",
              "resident_f32_BM1_BN16384_warps16_ctas1_fast spare",
              "resident_f32_BM1_BN32768_warps16_ctas1_fast spare", "streaming_f32_BN1024_warps4_fast"});
}

TEST_CASE("a point whose tiles would move between the blocks of a cluster is left out") {
  auto halves = [](const std::string &ctas) {
    return R"(
kernel halves(BN) {
  grid(R)
  let pair = cat(load(x.tile(1, BN)[block(0), 1]), load(x.tile(1, BN)[block(0), 0]), axis=1)
  store(y.tile(1, 2 * BN)[block(0), 0], pair)
}
tune halves { BN = 4096; warps = 4; ctas in )" +
           ctas + " }\n";
  };
  CHECK(compiling(halves("[2, 1]"), "sm_90a") == "3");
  CHECK(compiling(halves("[2]"), "sm_90a") ==
        "0\na concatenation needs what other blocks of the cluster hold | only elementwise operations, "
        "reductions and scans cross the blocks of a cluster: give this kernel `ctas = 1`");
}

TEST_CASE(
    "dense rows that would load three wide tiles to registers, or hold several in shared memory, are left "
    "to a later kernel") {
  auto rows = [](const std::string &more, const std::string &knobs = "warps in [16]; ctas in [8]") {
    return R"(
kernel wide(BN = pow2ceil(N)) when (N > 32768) & (N <= 65536) {
  grid(R)
  let t = load(x[block(0), 0 :+ BN])
  store(y[block(0), 0 :+ BN], (t - sum(t)) * load(x[0, 0 :+ BN]))" +
           more + R"()
}
tune wide { )" +
           knobs + " }\n" + streaming;
  };
  using Names = std::vector<std::string>;
  CHECK(slotsOf(rows(""), tile::FactKind::Dense) ==
        Names{"wide_f32_BN65536_warps16_ctas8_dense spare", "streaming_f32_BN1024_warps4_dense"});
  CHECK(slotsOf(rows(" + load(x[1, 0 :+ BN])"), tile::FactKind::Dense) ==
        Names{"streaming_f32_BN1024_warps4_dense"});
  CHECK(slotsOf(rows(" + load(x[1, 0 :+ BN])"), tile::FactKind::Fast) ==
        Names{"wide_f32_BN65536_warps16_ctas8_fast spare", "streaming_f32_BN1024_warps4_fast"});
  std::string held = "warps in [16]; ctas in [8]; vectors in [2]; hold in [shared]";
  for (const char *more : {"", " + load(x[1, 0 :+ BN])"})
    CHECK(slotsOf(rows(more, held), tile::FactKind::Dense) ==
          Names{"wide_f32_BN65536_warps16_ctas8_vectors2_hold1_dense spare",
                "streaming_f32_BN1024_warps4_dense"});
  std::string two = R"(
kernel several(BM, BN = pow2ceil(N)) when (N > 512) & (N <= 1024) {
  grid(cdiv(R, BM))
  let t = load(x.tile(BM, BN)[block(0), 0])
  store(y.tile(BM, BN)[block(0), 0], t - sum(t, axis=1))
}
tune several { BM in [2]; warps in [4]; vectors in [1]; hold in [shared] }
)" + streaming;
  CHECK(slotsOf(two, tile::FactKind::Dense) == Names{"streaming_f32_BN1024_warps4_dense"});
  CHECK(slotsOf(two, tile::FactKind::Fast) ==
        Names{"several_f32_BM2_BN1024_warps4_vectors1_hold1_fast spare", "streaming_f32_BN1024_warps4_fast"});
}

TEST_CASE("what no block can hold is left out, or an error that names the parameter") {
  CHECK(compiling(turning("[512]"), "sm_80") == "0\nkernel 'turn' needs 524288 bytes of shared memory a "
                                                "block at BM=512 warps=32, but sm_80 has 166912 | "
                                                "list smaller values of `BM` in `tune turn`");
  CHECK(compiling(turning("[256]") + streaming, "sm_80") ==
        "2\nkernel 'turn' needs 262144 bytes of shared memory a block at BM=256 warps=32, but sm_80 has "
        "166912; a "
        "later kernel takes its calls | list smaller values of `BM` in `tune turn`");
  CHECK(compiling(turning("[256, 1]"), "sm_86") ==
        "2\nsome points of this `tune` need more than the 101376 bytes of shared memory that a block has on "
        "sm_86; they were left out | ");
}

TEST_CASE("the only product's operands in each order that they may have in memory") {
  auto names = [](const std::string &body) {
    auto op =
        opOfText("op p(a: f16[Q, M, K], b: f16[Q, K, N], r: f16[Q, M, N], const both: bool) -> c: f16[Q, M, "
                 "N]\nreference { c = a @ b + r }\n"
                 "kernel k(BM) {\n  grid(Q)\n" +
                 body +
                 "  store(c[block(0)].tile(BM, 32)[0, 0], f16(s) + load(r[block(0)].tile(BM, 32)[0, 0]))\n}\n"
                 "tune k { BM = 32 }\ntest { Q = 1; M = 1; N = 1; K = 1; both = true; case \"one\" { a = 1; "
                 "b = 1; r = 1; expect c = [[[2]]] }; "
                 "tolerance { f16: 0 } }\nbench none \"a test\"\n");
    DiagnosticSink sink;
    std::string result;
    for (const driver::VariantSlot &slot :
         driver::enumerateVariants(*op, "sm_80", *targets::findTarget(80), {{}, {{"both", "true"}}}, sink)) {
      std::string name = driver::entryName(*op, slot.candidates.front(), slot.facts);
      result += name.substr(strlen("p_k_both1_BM32_")) + " ";
    }
    return result;
  };
  CHECK(names("  let x = load(a[block(0)].tile(BM, 32)[0, 0])\n"
              "  let s = mma(x, load(b[block(0), :, :].tile(32, 32)[0, 0]), zeros(f32, [BM, 32]))\n") ==
        "fast fast_aT fast_bT fast_aT_bT general ");
  CHECK(names("  let x = load(a[block(0)].tile(BM, 32)[0, 0])\n"
              "  let t = mma(x, load(b[block(0)].tile(32, 32)[0, 0]), zeros(f32, [BM, 32]))\n"
              "  let s = mma(x, load(b[block(0)].tile(32, 32)[1, 0]), t)\n") == "fast general ");
}

TEST_CASE("products: a result of 128 x 128, some 96 sums a thread, and 128 bytes of K, few loads a thread "
          "without facts") {
  std::string product = R"(
kernel product(BM, BN, BK) {
  grid(1)
  var acc = zeros(f32, [BM, BN])
  for k in 0 .. cdiv(N, BK) {
    acc = mma(load(x.tile(BM, BK)[0, k]), load(x.tile(BK, BN)[k, 0]), acc)
  }
  store(y.tile(BM, BN)[0, 0], acc)
}
tune product { BM in [32, 64, 128, 256]; BN in [32, 64, 128, 256]; BK in [16, 32, 64]; warps in [4, 8]; stages in [2, 3, 4] }
)";
  CHECK(slotsOf(product, tile::FactKind::Fast) ==
        std::vector<std::string>{"product_f32_BM128_BN128_BK32_warps4_stages3_fast"});
  CHECK(slotsOf(product, tile::FactKind::General) ==
        std::vector<std::string>{"product_f32_BM32_BN128_BK16_warps4_stages2_general"});
  CHECK(slotsOf(product, tile::FactKind::Dense).empty());
  std::string large = product.substr(0, product.find("tune")) +
                      "tune product { BM = 128; BN = 128; BK = 64; stages = 8; warps = 8 }\n";
  CHECK(compiling(large, "sm_80") ==
        "1\nkernel 'product' needs 524288 bytes of shared memory a block at BM=128 BN=128 BK=64 "
        "stages=8 warps=8, but sm_80 has 166912 | list smaller values of `BM`, `BN`, `BK` or "
        "`stages` in `tune product`");
}

TEST_CASE("rows in shared memory are for targets with bulk copies, and not for general variants") {
  std::string rows = R"(
kernel scaled(BN) {
  grid(R)
  let t = load(x[block(0), 0 :+ BN])
  store(y[block(0), 0 :+ BN], t / sum(t))
}
tune scaled { BN = 65536; warps = 32; vectors = 1; hold in )";
  using Names = std::vector<std::string>;
  CHECK(slotsOf(rows + "[shared] }\n", tile::FactKind::Fast, 90) ==
        Names{"scaled_f32_BN65536_warps32_vectors1_hold1_fast"});
  CHECK(slotsOf(rows + "[shared, registers] }\n", tile::FactKind::General, 90) ==
        Names{"scaled_f32_BN65536_warps32_vectors1_hold0_general"});
  CHECK(slotsOf(rows + "[shared, registers] }\n", tile::FactKind::Fast, 80) ==
        Names{"scaled_f32_BN65536_warps32_vectors1_hold0_fast"});
  CHECK(slotsOf(rows + "[shared] }\n", tile::FactKind::Fast, 80) ==
        Names{"every point of `tune scaled` needs bulk copies (`hold = shared`), which sm_80 does not have | "
              "give them to the targets that have: `arch sm_90a { hold in [registers, shared] }`"});
  std::string text = compiling(rows + "[shared] }\n", "sm_90a");
  auto lacks = [](const std::string &bytes) {
    return "\nkernel 'scaled' needs " + bytes +
           " bytes of shared memory a block at BN=65536 warps=32 vectors=1 hold=1, but sm_90a has 232448 | "
           "list "
           "more `ctas`, or `hold = registers`, in `tune scaled`";
  };
  // A row that begins anywhere has 16 bytes more.
  CHECK(text.substr(0, text.find("\nvariant")) == "1" + lacks("262280") + lacks("262296"));
}

TEST_CASE("rows in shared memory: some 128 bytes a thread, two to four strips, at most 64 KB a block") {
  std::string rows = R"(
kernel scaled(BN = pow2ceil(N)) when (N <= 131072) & (N > 8192) {
  grid(R)
  let t = load(x[block(0), 0 :+ BN])
  store(y[block(0), 0 :+ BN], t / sum(t))
}
tune scaled { warps in [4, 8, 16]; ctas in [1, 2, 4, 8]; hold in [shared]; vectors in [1, 2, 4] }
)";
  using Names = std::vector<std::string>;
  CHECK(slotsOf(rows + streaming, tile::FactKind::Fast, 90) ==
        Names{"scaled_f32_BN16384_warps16_ctas1_hold1_vectors2_fast spare",
              "scaled_f32_BN32768_warps16_ctas2_hold1_vectors2_fast spare",
              "scaled_f32_BN65536_warps16_ctas4_hold1_vectors2_fast spare",
              "scaled_f32_BN131072_warps16_ctas8_hold1_vectors2_fast spare",
              "streaming_f32_BN1024_warps4_fast"});
}

TEST_CASE("targets by their names") {
  auto problem = [](const char *name) { return llvm::toString(emit::parseArch(name).takeError()); };
  CHECK(problem("sm_1") == "'sm_1' is no target; expected one of sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, "
                           "sm_103, sm_120, sm_121, or "
                           "one of these with an 'a' (sm_90a) for code for that GPU alone");
  CHECK(problem("hopper").substr(0, 22) == "'hopper' is no target;");
  CHECK(llvm::cantFail(emit::parseArch("sm_90a")).exact);
  CHECK(targets::findTarget(89)->maxSharedBytes == 99 * 1024);
  CHECK(targets::findTarget(90)->maxSharedBytes == 227 * 1024);
}
