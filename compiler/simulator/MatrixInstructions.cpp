// SPDX-License-Identifier: MIT
// A warp's matrices: ldmatrix, stmatrix and mma.sync.
#include "compiler/simulator/Collective.h"
#include "compiler/simulator/Instructions.h"
#include "compiler/simulator/Machine.h"
#include "compiler/simulator/MatrixFragment.h"
#include "compiler/simulator/MatrixMultiply.h"
#include "compiler/simulator/Operands.h"

#include <array>
#include <cstring>

namespace tilegym::sim {

namespace {

constexpr uint32_t rowBytes = 16, allLanes = ~0u;

/// Lane l % 8 of group i holds the address of a row of matrix i.
void loadMatrix(Meeting &meeting) {
  const Site *site = meeting.site;
  for (uint32_t matrix = 0; matrix < site->numResults; ++matrix) {
    std::array<std::array<uint16_t, 8>, 8> elements;
    for (uint32_t row = 0; row < 8; ++row) {
      Thread &thread = *meeting.threads[matrix * 8 + row];
      uint64_t address = meeting.operands[matrix * 8 + row][0];
      thread.machine->access(thread, address, rowBytes, Touch::Read, rowBytes, site);
      thread.machine->noteTraffic(thread, address, rowBytes, false, site);
      std::memcpy(elements[row].data(), reinterpret_cast<const void *>(address), rowBytes);
    }
    for (int lane = 0; lane < 32; ++lane) {
      auto element = [&](int i) {
        Place place = matrixPlace(lane, i, site->attributes[0] != 0);
        return uint32_t(elements[size_t(place.row)][size_t(place.column)]);
      };
      meeting.results[size_t(lane)][matrix] = element(0) | element(1) << 16;
    }
  }
}

void storeMatrix(Meeting &meeting) {
  const Site *site = meeting.site;
  uint32_t count = site->numOperands - 1;
  for (uint32_t matrix = 0; matrix < count; ++matrix) {
    std::array<std::array<uint16_t, 8>, 8> elements;
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 2; ++i) {
        Place place = matrixPlace(lane, i, site->attributes[0] != 0);
        elements[size_t(place.row)][size_t(place.column)] =
            uint16_t(meeting.operands[size_t(lane)][matrix] >> 16 * i);
      }
    for (uint32_t row = 0; row < 8; ++row) {
      Thread &thread = *meeting.threads[matrix * 8 + row];
      uint64_t address = meeting.operands[matrix * 8 + row][count];
      thread.machine->access(thread, address, rowBytes, Touch::Write, rowBytes, site);
      thread.machine->noteTraffic(thread, address, rowBytes, true, site);
      std::memcpy(reinterpret_cast<void *>(address), elements[row].data(), rowBytes);
    }
  }
}

void checkWarp(const Site *site) {
  Thread &thread = current();
  if (thread.warp->lanes != allLanes)
    thread.machine->stop(
        fault(FindingKind::BadOperand, thread, site,
              std::string("carries out ") + site->mnemonic + " in a warp of fewer than 32 threads"));
}

void loadMatrixOf(const uint64_t *operands, uint64_t *results, const Site *site) {
  checkWarp(site);
  meetWarp(allLanes, operands, results, site, loadMatrix);
}

void storeMatrixOf(const uint64_t *operands, uint64_t *results, const Site *site) {
  checkWarp(site);
  meetWarp(allLanes, operands, results, site, storeMatrix);
}

/// Attributes: k, the types of A, B and the sum, saturate. Operands: A, B, the accumulators.
struct MmaShape {
  int k;
  MatrixUnit unit;
  size_t aWords, bWords;
};

AccumulatorType accumulatorOf(ElementType type) {
  return type == ElementType::F16   ? AccumulatorType::F16
         : type == ElementType::S32 ? AccumulatorType::S32
                                    : AccumulatorType::F32;
}

MmaShape shapeOf(const Site *site) {
  MmaShape shape;
  shape.k = int(site->attributes[0]);
  shape.unit = warpUnit(ElementType(site->attributes[1]), ElementType(site->attributes[2]),
                        accumulatorOf(ElementType(site->attributes[3])));
  shape.unit.saturate = site->attributes[4] != 0;
  shape.aWords = size_t(shape.k * elementBytes(shape.unit.a)) / 8;
  shape.bWords = shape.aWords / 2;
  return shape;
}

void multiplyWarp(Meeting &meeting) {
  MmaShape shape = shapeOf(meeting.site);
  int bytes = elementBytes(shape.unit.a), word = 4 / bytes;
  auto k = size_t(shape.k);
  std::array<std::array<Parts, 32>, 16> a;
  std::array<std::array<Parts, 32>, 8> b;
  for (int lane = 0; lane < 32; ++lane) {
    const uint64_t *operands = meeting.operands[size_t(lane)];
    for (int e = 0; e < word; ++e) {
      for (size_t r = 0; r < shape.aWords; ++r) {
        Place place = operandAPlace(0, lane, int(r), e, bytes);
        a[size_t(place.row)][size_t(place.column)] =
            elementParts(shape.unit.a, uint32_t(operands[r] >> 8 * bytes * e));
      }
      for (size_t r = 0; r < shape.bWords; ++r) {
        Place place = operandBPlace(lane, int(r), e, bytes);
        b[size_t(place.column)][size_t(place.row)] =
            elementParts(shape.unit.b, uint32_t(operands[shape.aWords + r] >> 8 * bytes * e));
      }
    }
  }
  bool isPacked = shape.unit.accumulator == AccumulatorType::F16;
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 4; ++i) {
      Place place = accumulatorPlace(0, lane, i);
      auto reg = size_t(isPacked ? i / 2 : i);
      int shift = isPacked ? 16 * (i % 2) : 0;
      auto old = uint32_t(meeting.operands[size_t(lane)][shape.aWords + shape.bWords + reg]);
      uint32_t start = isPacked ? old >> shift & 0xFFFF : old;
      std::span<const Parts> row = std::span(a[size_t(place.row)]).first(k),
                             column = std::span(b[size_t(place.column)]).first(k);
      uint32_t sum = bytes == 1 && !isInteger(shape.unit.a)
                         ? multiplyBytesOfWarp(row, column, shape.unit.a, shape.unit.b, start)
                         : multiplyBlock(shape.unit, OperandBlock(row), OperandBlock(column), start);
      uint64_t &result = meeting.results[size_t(lane)][reg];
      result = shift ? result | uint64_t(sum) << shift : sum;
    }
}

/// Pairs of types with their k; a shape that hardware lacks is the module's fault, told here as nothing else may check it.
bool isLegal(const MmaShape &shape) {
  ElementType a = shape.unit.a, b = shape.unit.b;
  bool byteFloats = (a == ElementType::E4M3 || a == ElementType::E5M2) &&
                    (b == ElementType::E4M3 || b == ElementType::E5M2);
  bool integers = isInteger(a) && isInteger(b);
  if (!byteFloats && !integers &&
      (a != b || (a != ElementType::F16 && a != ElementType::BF16 && a != ElementType::TF32)))
    return false;
  int whole = 32 / elementBytes(a);
  if (shape.k != whole && (byteFloats || shape.k != whole / 2))
    return false;
  if (integers != (shape.unit.accumulator == AccumulatorType::S32))
    return false;
  return shape.unit.accumulator != AccumulatorType::F16 || a == ElementType::F16;
}

void mma(const uint64_t *operands, uint64_t *results, const Site *site) {
  checkWarp(site);
  MmaShape shape = shapeOf(site);
  if (!isLegal(shape))
    current().machine->stop(fault(FindingKind::BadOperand, current(), site,
                                  std::string("multiplies ") + name(shape.unit.a) + " by " +
                                      name(shape.unit.b) + " with k " + std::to_string(shape.k) +
                                      ", which mma.sync cannot"));
  meetWarp(allLanes, operands, results, site, multiplyWarp);
}

constexpr Row rows[] = {{"load_matrix", loadMatrixOf}, {"store_matrix", storeMatrixOf}, {"mma", mma}};

} // namespace

std::span<const Row> matrixInstructions() { return rows; }

} // namespace tilegym::sim
