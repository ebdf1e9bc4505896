// SPDX-License-Identifier: MIT
// Code and data as large as what a launch runs through, so that a call's cost among launches can be told on a machine without a GPU.
#include "tests/gpu/dispatch/Bench.h"
#include <array>
#include <utility>

namespace tilegym::bench {
namespace {

constexpr int kFunctions = 2048,
              kBytes = 64 * 1024; // some 64 bytes of code each; a launch's own are of that order

template <int N> [[gnu::noinline]] unsigned step(unsigned x) {
  if (x & (1u << N % 13))
    x = x * 31 + N;
  else
    x ^= N * 2654435761u;
  if (x & (1u << (N + 5) % 17))
    x += x >> 3;
  return x + N;
}

template <int... N> constexpr auto tableOf(std::integer_sequence<int, N...>) {
  return std::array<unsigned (*)(unsigned), sizeof...(N)>{step<N>...};
}

} // namespace

void coolDown() {
  static constexpr auto steps = tableOf(std::make_integer_sequence<int, kFunctions>());
  static unsigned char data[kBytes];
  static volatile unsigned state = 1;
  unsigned x = state;
  for (auto *f : steps)
    x = f(x);
  for (int i = 0; i < kBytes; i += 64)
    x += data[i]++;
  state = x;
}

} // namespace tilegym::bench
