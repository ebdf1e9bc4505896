// SPDX-License-Identifier: MIT
// What ptxas puts into a cubin beside the code and its line table.
#pragma once
#include <string>

namespace tilegym::emit {

/// With line info, ptxas copies the whole PTX into the cubin: as many bytes again as the code. Nothing that runs or reports spec lines reads it; the
/// section stays, empty. An image that is no ELF file of the known form is left as it is.
void dropPtxText(std::string &cubin);

} // namespace tilegym::emit
