// SPDX-License-Identifier: MIT
// Which candidate is likely fastest where nothing has been measured.
#pragma once
#include "compiler/ir/FactSet.h"
#include "compiler/semantics/OpModel.h"

namespace tilegym::driver {

/// Elements of the largest tile of a kernel, and the size of a loaded element in bytes. With matrix products: elements of the largest result and
/// operand, and the bytes of K of the deepest; whether warpgroups can make them all, where the target has
/// such products.
struct KernelSize {
  int64_t largestTile = 1;
  int64_t elementBytes = 4;
  int64_t result = 0, operand = 0, depthBytes = 0;
  bool byWarpgroups = true;
  uint64_t operandTensors = 0; ///< sem::productOperands
  int64_t registersPerSum = 1; ///< two where sums of part of K are added to those of all of it
  int64_t wideLoads = 0;       ///< of tiles whose rows fill a block
  int64_t rows = 1;            ///< of the loaded tile that has most
  bool asksForVectors = false; ///< lowering::asksForVectors
};
KernelSize sizeOf(const sem::Kernel &kernel);

/// Lower is better. Fast kernels are bound by memory: enough bytes in flight a thread, few enough registers, not too few threads. Dense ones access single
/// elements, general ones at 64-bit addresses, too: few elements a thread, so that they stay small and do not spill. `warpgroups`: the target multiplies by wgmma.
double cost(const KernelSize &size, const sem::Specialization &point, tile::FactKind facts, bool warpgroups);

/// The points of a tune space that check.
class Candidates {
public:
  /// Where none of several checks, the first one's errors are reported.
  Candidates(const sem::OpModel &op, std::vector<sem::Specialization> points, DiagnosticSink &sink);
  /// The cheapest first; equals in the order of the space. None that has a thread hold more than `maxHeld` elements of the largest tile; where that is
  /// bounded, none of a dense kernel that loads three wide tiles to registers, or holds several rows in shared memory.
  std::vector<sem::Specialization> byCost(tile::FactKind facts, double maxHeld, bool warpgroups) const;
  /// Bit a tensor whose order in memory makes other code (sem::productOperands).
  uint64_t transposable() const { return sized.empty() ? 0 : sized.front().second.operandTensors; }
  /// Whether a dense kernel is another one than the fast, and no product's: what feeds these reads vectors.
  bool canBeDense() const {
    return !sized.empty() && sized.front().second.asksForVectors && !sized.front().second.result;
  }

private:
  std::vector<std::pair<sem::Specialization, KernelSize>> sized;
};

int64_t knob(const sem::Specialization &spec, std::string_view name, int64_t fallback);

} // namespace tilegym::driver
