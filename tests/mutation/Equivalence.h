// SPDX-License-Identifier: MIT
// Mutants that cannot change a result or an ordering, by proof.
//
// | rule | why |
// | --- | --- |
// | same canonical IR | canonicalisation and CSE keep meaning, and make the two the same text |
// | same PTX | as does all that follows up to ptxas: a GPU gets the same program, where sizes are in the range that the kernel's guard and its derived parameters leave |
// | nothing to order | a barrier beside another one, or before the first write: no access lies between that another thread could meet |
// | one value in all lanes | whoever's value a shuffle gives, it is the same one: it comes from constants, parameters, the block's and the warp's number |
// | only lane 0's | lane 0 gets lane k's value by xor, down and index k alike; what other lanes get reaches only code that lane 0 alone runs |
// | symmetric comparison | it says the same of (a, b) as of (b, a) |
// | an estimate that is corrected | a quotient's estimate is less by 1 at most, as before, for every size that memory can have |
// | prefetch | it changes no memory, whoever asks for it |
// | value of masked elements | the load's other value flows, in this thread alone, through arithmetic to where nothing happens unless the load did: predicates, branches, conjunctions |
#pragma once
#include "MutationOperators.h"

namespace tilegym::mutation {

/// The rule of barriers, before the mistake is made. Empty: it does not hold.
std::string equivalentByOrder(const Operator &kind, mlir::Operation *op);
/// The rules of values, after the mistake was made. Empty: it does not hold.
std::string equivalentByFlow(const Operator &kind, mlir::Operation *op, unsigned place);

} // namespace tilegym::mutation
