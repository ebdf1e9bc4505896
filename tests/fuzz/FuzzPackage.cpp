// SPDX-License-Identifier: MIT
// Feeds damaged packages to the loader: whatever it accepts is then called, and nothing may crash. Checksums are made right again, as they
// would keep all damage from the code behind them. `--iterations N` or `--seconds S`, `--seed S`.
#include "tests/fuzz/OnePackage.h"
#include "tests/unit/runtime/PackageBuilder.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

using namespace tilegym;

namespace {

/// Changes that come near to sound records: bits, bytes, small numbers, words copied from elsewhere.
void damage(std::string &block, std::mt19937_64 &random) {
  auto below = [&](uint64_t n) { return size_t(random() % n); };
  for (size_t k = 0, n = 1 + below(6); k < n; ++k) {
    size_t at = below(block.size() - 4), word = at / 4 * 4;
    uint32_t small = uint32_t(below(12)) - 2;
    switch (below(5)) {
    case 0:
      block[at] = char(block[at] ^ char(1 << below(8)));
      break;
    case 1:
      block[at] = char(random());
      break;
    case 2:
      std::memcpy(&block[word], &small, 4);
      break;
    case 3:
      std::memmove(&block[word], &block[below(block.size() / 4 - 1) * 4], 4);
      break;
    default:
      std::memcpy(&small, &block[word], 4);
      small += uint32_t(below(3)) - 1;
      std::memcpy(&block[word], &small, 4);
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  uint64_t iterations = 20000, seed = 1;
  double seconds = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--iterations"))
      iterations = std::strtoull(argv[i + 1], nullptr, 10);
    else if (!std::strcmp(argv[i], "--seed"))
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (!std::strcmp(argv[i], "--seconds"))
      seconds = std::atof(argv[i + 1]);
  }
  testing::OpText op = testing::scaleOp();
  op.checks = {{{testing::dim(1), testing::number(0), testing::inst(format::OpCode::GeI)}, "never negative"}};
  op.dims[1].choices = {4};
  const std::string sound = testing::PackageBuilder().build({op});
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  uint64_t done = 0, accepted = 0;
  for (; seconds > 0 ? elapsed() < seconds : done < iterations; ++done) {
    std::mt19937_64 random(seed + done);
    std::string block = sound;
    if (random() % 16 == 0)
      block.resize(size_t(random() % block.size()));
    else
      damage(block, random);
    accepted += fuzz::onePackage(block.data(), block.size());
  }
  std::printf("fuzz_package: %llu packages, %llu accepted\n", static_cast<unsigned long long>(done),
              static_cast<unsigned long long>(accepted));
  // Of a fuzzer that never gets past the checks, or always does, nothing is learnt.
  return accepted > done / 50 && accepted < done ? 0 : 1;
}
