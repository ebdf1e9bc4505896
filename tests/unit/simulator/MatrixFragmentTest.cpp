// SPDX-License-Identifier: MIT
// Fragment maps: each covers its matrix once, and holds what the tables of the PTX ISA say.
#include "compiler/simulator/MatrixFragment.h"

#include "catch2/catch.hpp"

#include <set>
#include <utility>

using namespace tilegym::sim;

TEST_CASE("accumulators cover the tile once", "[fragment]") {
  for (int n : {8, 16, 24, 96, 176, 256}) {
    std::set<std::pair<int, int>> seen;
    for (int warp = 0; warp < 4; ++warp)
      for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < n / 2; ++i) {
          Place p = accumulatorPlace(warp, lane, i);
          CHECK((p.row >= 16 * warp && p.row < 16 * warp + 16 && p.column < n));
          seen.insert({p.row, p.column});
        }
    CHECK(seen.size() == size_t(64 * n));
  }
  CHECK(accumulatorPlace(0, 5, 0) == Place{1, 2});
  CHECK(accumulatorPlace(2, 5, 7) == Place{41, 11});
}

TEST_CASE("A fragments", "[fragment]") {
  for (int bytes : {1, 2, 4})
    for (int registers : {2, 4}) { // m16n8k8/k16 (16-bit), k16/k32 (8-bit), k4/k8 (tf32)
      std::set<std::pair<int, int>> seen;
      int k = registers * 8 / bytes;
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < registers; ++r)
          for (int e = 0; e < 4 / bytes; ++e) {
            Place p = operandAPlace(0, lane, r, e, bytes);
            CHECK((p.row < 16 && p.column < k));
            seen.insert({p.row, p.column});
          }
      CHECK(seen.size() == size_t(16 * k));
    }
  for (int lane = 0; lane < 32; ++lane) {
    int g = lane / 4, t = lane % 4;
    CHECK(operandAPlace(1, lane, 0, 1, 2) == Place{16 + g, 2 * t + 1});
    CHECK(operandAPlace(1, lane, 1, 0, 2) == Place{24 + g, 2 * t});
    CHECK(operandAPlace(0, lane, 2, 0, 2) == Place{g, 2 * t + 8});
    CHECK(operandAPlace(0, lane, 3, 0, 4) == Place{g + 8, t + 4});
    CHECK(operandAPlace(0, lane, 2, 3, 1) == Place{g, 4 * t + 3 + 16});
  }
}

TEST_CASE("B fragments", "[fragment]") {
  for (int bytes : {1, 2, 4})
    for (int registers : {1, 2}) {
      std::set<std::pair<int, int>> seen;
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < registers; ++r)
          for (int e = 0; e < 4 / bytes; ++e) {
            Place p = operandBPlace(lane, r, e, bytes);
            CHECK((p.row < registers * 16 / bytes && p.column == lane / 4));
            seen.insert({p.row, p.column});
          }
      CHECK(seen.size() == size_t(8 * registers * 16 / bytes));
    }
  CHECK(operandBPlace(6, 1, 1, 2) == Place{13, 1});
  CHECK(operandBPlace(6, 1, 2, 1) == Place{26, 1});
}

TEST_CASE("ldmatrix places are the fragments of 16-bit operands", "[fragment]") {
  for (int lane = 0; lane < 32; ++lane)
    for (int e = 0; e < 2; ++e) {
      CHECK(matrixPlace(lane, e, false) == operandAPlace(0, lane, 0, e, 2));
      CHECK(matrixPlace(lane, e, true) == operandBPlace(lane, 0, e, 2));
    }
}
