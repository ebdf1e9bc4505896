// SPDX-License-Identifier: MIT
// Reading the list.
#include "Survivors.h"
#include "llvm/ADT/SmallVector.h"

namespace tilegym::mutation {

llvm::Expected<Survivors> Survivors::read(const std::string &path) {
  Survivors all;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError("%s: %s", path.c_str(), buffer.getError().message().c_str());
  llvm::SmallVector<llvm::StringRef> lines;
  all.text = std::move(*buffer);
  all.text->getBuffer().split(lines, '\n');
  for (auto [number, line] : llvm::enumerate(lines)) {
    if (line.trim().empty() || line.starts_with("#"))
      continue;
    llvm::SmallVector<llvm::StringRef> fields;
    line.split(fields, '|');
    llvm::SmallVector<llvm::GlobPattern> patterns;
    for (llvm::StringRef field : llvm::ArrayRef(fields).take_front(3))
      if (auto pattern = llvm::GlobPattern::create(field.trim(), /*MaxSubPatterns=*/16))
        patterns.push_back(std::move(*pattern));
      else
        return pattern.takeError();
    if (fields.size() != 4 || fields[3].trim().empty())
      return llvm::createStringError("%s:%zu: expected SPEC/VARIANT | OPERATOR | INSTRUCTION at LINE | why",
                                     path.c_str(), number + 1);
    all.entries.push_back({patterns[0], patterns[1], patterns[2], fields[3].trim().str()});
  }
  return all;
}

std::string Survivors::find(const std::string &kernel, const std::string &kind,
                            const std::string &place) const {
  for (const Entry &entry : entries)
    if (entry.kernel.match(kernel) && entry.kind.match(kind) && entry.place.match(place))
      return entry.why;
  return "";
}

} // namespace tilegym::mutation
