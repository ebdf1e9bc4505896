// SPDX-License-Identifier: MIT
// What this machine's driver makes of tensor maps, and whether the runtime writes the same bytes itself (runtime/src/TensorMapForm.h), over random maps.
#include "runtime/src/TensorMapForm.h"
#include "tests/gpu/dispatch/Bench.h"
#include <cstdio>
#include <cstring>
#include <random>

namespace tilegym::bench {
namespace {

using runtime::TensorMapArguments;
using runtime::TensorMapForm;

TensorMapArguments someMap(uint32_t rank, std::mt19937_64 &random) {
  constexpr int types[] = {0, 6, 9, 7, 8}, bytes[] = {1, 2, 2, 4, 8};
  size_t type = random() % 5;
  TensorMapArguments a{};
  a.type = types[type];
  a.rank = rank;
  a.swizzle = int(random() % 4);
  a.address = (random() % (uint64_t(1) << 47) & ~uint64_t(15)) + 16;
  for (uint32_t i = 0; i < rank; ++i) {
    a.extents[i] = 1 + random() % (uint64_t(1) << (1 + random() % 31));
    a.strides[i] = 16 * (1 + random() % (uint64_t(1) << (1 + random() % 35)));
    a.box[i] = uint32_t(1 + random() % 64);
  }
  a.box[0] = uint32_t((a.swizzle ? 16 << a.swizzle : 64) / bytes[type]);
  return a;
}

/// The bits that one bit of a value turns over, where they are not one.
void printOdd(const runtime::Driver &driver, uint32_t rank) {
  std::mt19937_64 random(7);
  TensorMapArguments base = someMap(rank, random);
  uint64_t words[16] = {}, other[16] = {};
  std::printf("  a map of rank %u: %d\n", rank,
              base.encode(driver, reinterpret_cast<unsigned char *>(words)));
  auto probe = [&](const char *what, uint32_t axis, uint64_t &value, int low, int high) {
    for (int bit = low; bit < high; ++bit) {
      uint64_t kept = value;
      value ^= uint64_t(1) << bit;
      int result = base.encode(driver, reinterpret_cast<unsigned char *>(other));
      value = kept;
      std::printf("  %s %u bit %d: result %d", what, axis, bit, result);
      for (int w = 0; result == 0 && w < 16; ++w)
        if (other[w] != words[w])
          std::printf(" word %d ^ %016llx", w, static_cast<unsigned long long>(other[w] ^ words[w]));
      std::printf("\n");
    }
  };
  probe("address", 0, base.address, 4, 50);
  for (uint32_t i = 0; i < rank; ++i) {
    probe("extent", i, base.extents[i], 1, 32);
    if (i)
      probe("stride", i, base.strides[i], 4, 40);
  }
}

} // namespace

bool checkMapForms(const runtime::Driver &driver, int maps) {
  bool good = true;
  for (uint32_t rank = 1; rank <= format::kMaxMapRank; ++rank) {
    TensorMapForm form;
    double begin = now();
    bool learned = form.learn(driver, rank);
    double learning = now() - begin;
    std::mt19937_64 random(rank);
    int bases = 0, compared = 0, different = 0, refused = 0, left = 0;
    for (int i = 0; learned && i < maps; ++i) {
      TensorMapArguments base = someMap(rank, random);
      alignas(64) uint64_t words[16], made[16], expected[16];
      if (!form.makeBase(driver, base, words)) {
        ++refused;
        continue;
      }
      ++bases;
      for (int k = 0; k < 20; ++k) {
        TensorMapArguments to = someMap(rank, random);
        to.type = base.type;
        to.swizzle = base.swizzle;
        std::memcpy(to.box, base.box, sizeof to.box);
        if (to.encode(driver, reinterpret_cast<unsigned char *>(expected)) != runtime::kSuccess)
          continue;
        if (!form.patch(words, to, made)) {
          ++left;
          continue;
        }
        ++compared;
        different += std::memcmp(made, expected, sizeof made) != 0;
      }
    }
    std::printf("tensor maps of rank %u: %s in %.0f us; %d bases (%d without), %d maps compared, %d differ, "
                "%d left to the driver\n",
                rank, learned ? "form learned" : "NO form", learning / 1000, bases, refused, compared,
                different, left);
    good &= learned && !different && compared > 0;
    if (!learned)
      printOdd(driver, rank);
  }
  return good;
}

} // namespace tilegym::bench
