// SPDX-License-Identifier: MIT
// Spec text and places in it. Every AST node and every diagnostic carries a SourceRange.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilegym {

/// One spec file in memory. Immutable once made; kept alive by the AST that points into it.
class SourceFile {
public:
  SourceFile(std::string name, std::string text);
  const std::string &name() const { return fileName; }
  std::string_view text() const { return contents; }
  struct LineColumn {
    uint32_t line = 1, column = 1; ///< both from 1; columns count bytes
  };
  LineColumn lineColumn(uint32_t offset) const;
  std::string_view line(uint32_t lineNumber) const; ///< without its newline

private:
  std::string fileName, contents;
  std::vector<uint32_t> lineStarts;
};

/// A half-open byte range of a file. `file` is null for things the program made up.
struct SourceRange {
  const SourceFile *file = nullptr;
  uint32_t begin = 0, end = 0;
};

} // namespace tilegym
