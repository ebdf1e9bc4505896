// SPDX-License-Identifier: MIT
// Offsets to lines and columns, by a table of line starts.
#include "compiler/syntax/Source.h"
#include <algorithm>

namespace tilegym {

SourceFile::SourceFile(std::string name, std::string text)
    : fileName(std::move(name)), contents(std::move(text)) {
  lineStarts.push_back(0);
  for (size_t i = 0; i < contents.size(); ++i)
    if (contents[i] == '\n')
      lineStarts.push_back(static_cast<uint32_t>(i + 1));
}

SourceFile::LineColumn SourceFile::lineColumn(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(contents.size()));
  auto next = std::upper_bound(lineStarts.begin(), lineStarts.end(), offset);
  auto index = static_cast<uint32_t>(next - lineStarts.begin()) - 1;
  return {index + 1, offset - lineStarts[index] + 1};
}

std::string_view SourceFile::line(uint32_t lineNumber) const {
  if (lineNumber == 0 || lineNumber > lineStarts.size())
    return {};
  size_t begin = lineStarts[lineNumber - 1];
  size_t end = lineNumber < lineStarts.size() ? lineStarts[lineNumber] - 1 : contents.size();
  if (end > begin && contents[end - 1] == '\r')
    --end;
  return std::string_view(contents).substr(begin, end - begin);
}

} // namespace tilegym
