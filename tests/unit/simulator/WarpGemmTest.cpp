// SPDX-License-Identifier: MIT
// A small GEMM as it is built for Ampere: cp.async into a ring of swizzled stages, ldmatrix, mma.sync.
#include "tests/unit/simulator/SmallMatrix.h"
#include "tests/unit/simulator/TestKernel.h"

using namespace tilegym::sim;

namespace {

// Two warps, each 16 rows of a 32 x 16 tile; blocks of 32 along k.
constexpr int rowsM = 32, rowsN = 16, sizeK = 160, blockK = 32;
constexpr uint32_t rowBytes = blockK * 2, stageBytes = (rowsM + rowsN) * rowBytes, stages = 3;

struct WarpGemm {
  Op copy{"copy_async", {.attributes = {16, 1, 0}, .operands = {i64, i64}, .segments = {1, 1, 0, 0}}};
  Op commit{"copy_async_commit"}, wait{"copy_async_wait", {.attributes = {stages - 2}}}, sync{"barrier"};
  Op loadA{"load_matrix", {.attributes = {0}, .operands = {i64}, .results = {i32, i32, i32, i32}}};
  Op loadB{"load_matrix", {.attributes = {0}, .operands = {i64}, .results = {i32, i32}}};
  Op mma{"mma",
         {.attributes = {16, int64_t(ElementType::BF16), int64_t(ElementType::BF16),
                         int64_t(ElementType::F32), 0},
          .operands = {i32, i32, i32, i32, i32, i32, f32, f32, f32, f32},
          .results = {f32, f32, f32, f32},
          .segments = {4, 2, 4}}};
  Store<float> store;

  /// Chunk of a stage's row, swizzled over the four of two rows' 128 bytes.
  static uint32_t offset(uint32_t row, uint32_t chunk) {
    return row * rowBytes + ((chunk ^ (row / 2 & 3)) << 4);
  }
  static uint64_t stage(int k) { return shared(uint32_t(k) % stages * stageBytes); }

  void issue(uint64_t a, uint64_t b, int k) const {
    for (uint32_t i = thread(); k < sizeK / blockK && i < (rowsM + rowsN) * 4; i += 64) {
      uint32_t row = i / 4, chunk = i % 4;
      uint64_t from = row < rowsM ? a + row * sizeK * 2 : b + (row - rowsM) * sizeK * 2;
      copy({stage(k) + offset(row, chunk), from + uint32_t(k) * rowBytes + chunk * 16});
    }
    commit();
  }

  void run(uint64_t a, uint64_t b, uint64_t c, bool syncs) const {
    uint32_t lane = thread() % 32, warp = thread() / 32;
    float sums[2][4] = {};
    for (int k = 0; k < int(stages) - 1; ++k)
      issue(a, b, k);
    for (int k = 0; k < sizeK / blockK; ++k) {
      wait();
      if (syncs) // all copies of this stage are there, and all reads of the one that is filled next are over
        sync();
      issue(a, b, k + int(stages) - 1);
      for (uint32_t half = 0; half < 2; ++half) {
        auto left = loadA.all({stage(k) + offset(16 * warp + lane % 16, 2 * half + lane / 16)});
        for (uint32_t n = 0; n < 2; ++n) {
          auto right = loadB.all({stage(k) + offset(rowsM + 8 * n + lane % 8, 2 * half + lane / 8 % 2)});
          auto bits = [&](int i) { return uint64_t(std::bit_cast<uint32_t>(sums[n][i])); };
          auto got = mma.all(
              {left[0], left[1], left[2], left[3], right[0], right[1], bits(0), bits(1), bits(2), bits(3)});
          for (size_t i = 0; i < 4; ++i)
            sums[n][i] = std::bit_cast<float>(uint32_t(got[i]));
        }
      }
    }
    for (int n = 0; n < 2; ++n)
      for (int i = 0; i < 4; ++i) {
        Place place = accumulatorPlace(int(warp), int(lane), i);
        store(c + uint64_t(place.row * rowsN + 8 * n + place.column) * 4, sums[n][i]);
      }
  }
};

} // namespace

TEST_CASE("a ring of copies feeds mma.sync", "[warpgemm]") {
  WarpGemm g;
  SmallMatrix left(rowsM, sizeK, 1), right(rowsN, sizeK, 2);
  auto bits = [](const SmallMatrix &matrix) {
    std::vector<uint16_t> out;
    for (int value : matrix.values)
      out.push_back(uint16_t(elementBits(ElementType::BF16, value)));
    return out;
  };
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Run run;
    uint64_t a = run.put(bits(left)), b = run.put(bits(right)), c = run.memory.allocate(rowsM * rowsN * 4);
    LaunchConfig config{.block = {64}, .sharedBytes = stages * stageBytes, .seed = seed};
    requireClean(run(config, [&] { g.run(a, b, c, true); }));
    for (int row = 0; row < rowsM; ++row)
      for (int column = 0; column < rowsN; ++column)
        REQUIRE(run.at<float>(c, size_t(row * rowsN + column)) == float(dot(left, row, right, column)));
    Report report = run(config, [&] { g.run(a, b, c, false); });
    INFO(report.text());
    CHECK(std::any_of(report.findings.begin(), report.findings.end(),
                      [](const Finding &finding) { return finding.kind == FindingKind::Race; }));
  }
}
