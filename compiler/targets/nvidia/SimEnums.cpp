// SPDX-License-Identifier: MIT
// The simulator, which knows no MLIR, reads enum attributes by their numbers: its enums must number their cases as the dialect's do. No code is
// made here; where they differ, this file does not compile.
#include "compiler/simulator/MatrixElement.h"
#include "compiler/simulator/MemoryReduction.h"
#include "compiler/simulator/Ordering.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"

namespace tilegym {
namespace {

template <class Ours, class Theirs> constexpr bool same(Ours ours, Theirs theirs) {
  return uint32_t(ours) == uint32_t(theirs);
}

#define SAME(Enum, Case)                                                                                     \
  static_assert(same(ptx::Enum::Case, sim::Enum::Case), #Enum "::" #Case " has two numbers")
SAME(ElementType, U32);
SAME(ElementType, S32);
SAME(ElementType, U64);
SAME(ElementType, S64);
SAME(ElementType, F16);
SAME(ElementType, BF16);
SAME(ElementType, F32);
SAME(ElementType, F64);
SAME(ElementType, TF32);
SAME(ElementType, E4M3);
SAME(ElementType, E5M2);
SAME(ElementType, S8);
SAME(ElementType, U8);
SAME(ReduceKind, Add);
SAME(ReduceKind, Min);
SAME(ReduceKind, Max);
SAME(ReduceKind, Inc);
SAME(ReduceKind, Dec);
SAME(ReduceKind, And);
SAME(ReduceKind, Or);
SAME(ReduceKind, Xor);
SAME(Ordering, Relaxed);
SAME(Ordering, Acquire);
SAME(Ordering, Release);
SAME(Ordering, AcqRel);
SAME(Ordering, Sc);
SAME(Scope, Cta);
SAME(Scope, Cluster);
SAME(Scope, Gpu);
SAME(Scope, System);
SAME(ProxySpace, All);
SAME(ProxySpace, Global);
SAME(ProxySpace, SharedCta);
SAME(ProxySpace, SharedCluster);
#undef SAME

} // namespace
} // namespace tilegym
