// SPDX-License-Identifier: MIT
// survivors.txt: mutants that nothing tells from the original, and why that is no hole. A line each:
//
//   SPEC/VARIANT | OPERATOR | INSTRUCTION at LINE | why
//
// The first three are patterns (`*`); `#` starts a comment. A reason that starts with `equivalent:` says that the mutant changes nothing that can be
// seen, for a cause that no rule of Equivalence.h proves; the others change something that the cases do not tell.
#pragma once
#include "llvm/Support/Error.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <string>
#include <vector>

namespace tilegym::mutation {

class Survivors {
public:
  static llvm::Expected<Survivors> read(const std::string &path);
  /// Why this one may survive; empty: nobody has said.
  std::string find(const std::string &kernel, const std::string &kind, const std::string &place) const;

private:
  struct Entry {
    llvm::GlobPattern kernel, kind, place;
    std::string why;
  };
  std::unique_ptr<llvm::MemoryBuffer> text; ///< patterns point into it
  std::vector<Entry> entries;
};

} // namespace tilegym::mutation
