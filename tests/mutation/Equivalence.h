// SPDX-License-Identifier: MIT
// Mutants that cannot change a result or an ordering, by proof.
//
// | rule | why |
// | --- | --- |
// | same canonical IR | canonicalisation and CSE keep meaning, and make the two the same text |
// | same PTX | as does all that follows up to ptxas: a GPU gets the same program, where sizes are in the range that the kernel's guard and its derived parameters leave |
// | nothing to order | a barrier beside another one, or before the first write: no access lies between that another thread could meet |
// | one value in all lanes | whoever's value a shuffle gives, it is the same one: it comes from constants, parameters, the block's and the warp's number |
// | the lanes that matter hear the same | of a reduction, lane 0 alone stores; so at each step only those lanes matter that it hears of, and xor, down and index may give them the same |
// | another owner | a comparison asks for another lane or warp, and does nothing but choose who of them stores: each has the same value for the same place |
// | symmetric comparison | it says the same of (a, b) as of (b, a) |
// | an estimate that is corrected | a quotient's estimate is less by 1 at most, as before, for every size that memory can have |
// | beyond 32-bit offsets | a clamp near 2^31 in a fast kernel: dispatch gives it no tensor with offsets so far, nor an index outside one |
// | unsigned, cut below | a float becomes an unsigned integer, rounded down instead of toward 0: they differ below 0 alone, where either gives 0 |
// | prefetch | it changes no memory, whoever asks for it |
// | value of masked elements, more of them | a load's mask lets more through than before, what it gives flows as in the next rule; cases that end in each part of a tile say that it reads nothing out of bounds |
// | value of masked elements | the load's other value flows, in this thread alone, through arithmetic to where nothing happens unless the load did: predicates, branches, conjunctions |
// | columns of every size | a load's other value, where its mask is true for every size that the variant takes (`Subject::assume`) |
#pragma once
#include "MutationOperators.h"

namespace tilegym::mutation {

/// The rule of barriers, before the mistake is made. Empty: it does not hold.
std::string equivalentByOrder(const Operator &kind, mlir::Operation *op);
/// The rule of wider masks, before the mistake is made. Empty: it does not hold.
std::string equivalentByMask(const Operator &kind, mlir::Operation *op);
/// The rules of values, after the mistake was made; `before` are the properties that the operation had. Empty: it does not hold.
std::string equivalentByFlow(const Operator &kind, mlir::Operation *op, unsigned place,
                             mlir::Attribute before);
/// The rule of sizes, after the mistake was made, in a module whose sizes were clamped to the variant's range. Empty: it does not hold.
std::string equivalentByRange(const Operator &kind, mlir::Operation *op);

} // namespace tilegym::mutation
