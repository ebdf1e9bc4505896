// SPDX-License-Identifier: MIT
// Cuts a section's bytes out of an ELF file. What lies behind moves by a multiple of every alignment there.
#include "compiler/emit/CubinSections.h"
#include "llvm/BinaryFormat/ELF.h"
#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

using namespace llvm::ELF;

namespace tilegym::emit {
namespace {

/// Records of one kind in the file, checked to lie inside; written back by hand.
template <class Record> class Records {
public:
  Records(std::string &file, uint64_t offset, uint64_t count, uint64_t size) : file(file) {
    if (size == sizeof(Record) && offset <= file.size() && count <= (file.size() - offset) / size) {
      all.resize(count);
      std::memcpy(all.data(), file.data() + offset, count * size);
    }
  }
  void write(uint64_t at) const { std::memcpy(file.data() + at, all.data(), all.size() * sizeof(Record)); }
  std::vector<Record> all;

private:
  std::string &file;
};

std::string_view nameAt(const std::string &file, const Elf64_Shdr &names, uint64_t at) {
  if (names.sh_offset > file.size() || at >= file.size() - names.sh_offset)
    return {};
  return file.c_str() + names.sh_offset + at;
}

} // namespace

void dropPtxText(std::string &cubin) {
  Elf64_Ehdr header;
  if (cubin.size() < sizeof header)
    return;
  std::memcpy(&header, cubin.data(), sizeof header);
  if (std::memcmp(header.e_ident, ElfMagic, 4) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return;
  Records<Elf64_Shdr> sections(cubin, header.e_shoff, header.e_shnum, header.e_shentsize);
  Records<Elf64_Phdr> segments(cubin, header.e_phoff, header.e_phnum, header.e_phentsize);
  if (header.e_shstrndx >= sections.all.size())
    return;
  Elf64_Shdr names = sections.all[header.e_shstrndx];
  auto text = std::find_if(sections.all.begin(), sections.all.end(), [&](const Elf64_Shdr &s) {
    return nameAt(cubin, names, s.sh_name) == ".nv_debug_ptx_txt";
  });
  if (text == sections.all.end() || text->sh_offset > cubin.size() ||
      text->sh_size > cubin.size() - text->sh_offset)
    return;
  uint64_t begin = text->sh_offset, end = begin + text->sh_size, alignment = 8;
  for (const Elf64_Shdr &s : sections.all)
    alignment = std::max<uint64_t>(alignment, s.sh_addralign);
  for (const Elf64_Phdr &p : segments.all)
    alignment = std::max<uint64_t>(alignment, p.p_align);
  uint64_t cut = text->sh_size / alignment * alignment;
  auto moved = [&](auto &offset) {
    if (offset >= end)
      offset -= cut;
  };
  text->sh_size = 0;
  for (Elf64_Shdr &s : sections.all)
    moved(s.sh_offset);
  for (Elf64_Phdr &p : segments.all)
    moved(p.p_offset);
  moved(header.e_shoff);
  moved(header.e_phoff);
  cubin.erase(begin, cut);
  std::memcpy(cubin.data(), &header, sizeof header);
  sections.write(header.e_shoff);
  segments.write(header.e_phoff);
}

} // namespace tilegym::emit
