// SPDX-License-Identifier: MIT
// Whether a conversion needs what other blocks of the cluster hold.
#include "compiler/layout/Convert.h"

namespace tilegym::layout {

bool staysInBlocks(const Layout &from, const Layout &to) {
  if (from.unit() != to.unit() || from.shape() != to.shape() || from.bits(Dim::Block) != to.bits(Dim::Block))
    return false;
  // Block b holds a coset of what its threads and registers reach; it must lie within b's coset of `from`.
  Span inBlock;
  for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp})
    for (Vec basis : from.bases(dim))
      inBlock.add(basis);
  for (Dim dim : {Dim::Register, Dim::Lane, Dim::Warp})
    for (Vec basis : to.bases(dim))
      if (!inBlock.contains(basis))
        return false;
  for (int bit = 0; bit < from.bits(Dim::Block); ++bit)
    if (!inBlock.contains(from.bases(Dim::Block)[bit] ^ to.bases(Dim::Block)[bit]))
      return false;
  return true;
}

} // namespace tilegym::layout
