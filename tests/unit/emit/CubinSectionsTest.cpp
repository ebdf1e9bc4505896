// SPDX-License-Identifier: MIT
// The PTX text leaves a cubin; all else keeps its bytes and its alignment.
#include "compiler/emit/CubinSections.h"
#include "llvm/BinaryFormat/ELF.h"
#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

using namespace llvm::ELF;

namespace {

struct Section {
  std::string name, bytes;
  uint64_t alignment = 1;
};

/// Header, sections, section headers, one segment over the last section: the order ptxas writes.
std::string elf(const std::vector<Section> &sections) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ElfMagic, 4);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  std::string file(sizeof header, 0), names(1, 0);
  std::vector<Elf64_Shdr> records(1);
  for (const Section &s : sections) {
    Elf64_Shdr &record = records.emplace_back();
    record.sh_name = uint32_t(names.size());
    names += s.name + '\0';
    file.resize((file.size() + s.alignment - 1) / s.alignment * s.alignment);
    record.sh_offset = file.size();
    record.sh_size = s.bytes.size();
    record.sh_addralign = s.alignment;
    file += s.bytes;
  }
  Elf64_Phdr segment{};
  segment.p_offset = records.back().sh_offset;
  segment.p_align = 8;
  Elf64_Shdr &last = records.emplace_back();
  last.sh_offset = file.size();
  last.sh_size = names.size();
  file += names;
  file.resize((file.size() + 7) / 8 * 8);
  auto append = [&](const void *data, size_t size) { file.append(static_cast<const char *>(data), size); };
  header.e_shoff = file.size();
  header.e_shnum = uint16_t(records.size());
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shstrndx = uint16_t(records.size() - 1);
  append(records.data(), records.size() * sizeof(Elf64_Shdr));
  header.e_phoff = file.size();
  header.e_phnum = 1;
  header.e_phentsize = sizeof segment;
  append(&segment, sizeof segment);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

template <class Record> Record at(const std::string &file, uint64_t offset) {
  Record record;
  REQUIRE(offset + sizeof record <= file.size());
  std::memcpy(&record, file.data() + offset, sizeof record);
  return record;
}

} // namespace

TEST_CASE("the PTX text leaves a cubin, and what lies behind it moves as a whole") {
  std::string code(256, 'c'), file = elf({{".debug_line", "lines"},
                                          {".nv_debug_ptx_txt", std::string(1000, 't')},
                                          {".nv.info", "info", 4},
                                          {".text.k", code, 128}});
  std::string smaller = file;
  tilegym::emit::dropPtxText(smaller);
  CHECK(file.size() - smaller.size() == 896); // the most that keeps an alignment of 128
  auto header = at<Elf64_Ehdr>(smaller, 0);
  std::vector<std::string> found;
  auto names = at<Elf64_Shdr>(smaller, header.e_shoff + header.e_shstrndx * sizeof(Elf64_Shdr));
  for (unsigned i = 1; i < header.e_shstrndx; ++i) {
    auto s = at<Elf64_Shdr>(smaller, header.e_shoff + i * sizeof(Elf64_Shdr));
    CHECK(s.sh_offset % s.sh_addralign == 0);
    found.push_back(std::string(smaller.c_str() + names.sh_offset + s.sh_name) + " " +
                    smaller.substr(s.sh_offset, s.sh_size));
  }
  CHECK(found == std::vector<std::string>{".debug_line lines", ".nv_debug_ptx_txt ", ".nv.info info",
                                          ".text.k " + code});
  auto segment = at<Elf64_Phdr>(smaller, header.e_phoff);
  CHECK(smaller.substr(segment.p_offset, code.size()) == code);
}

TEST_CASE("what is no cubin with a PTX text stays as it is") {
  std::string whole = elf({{".text.k", "code", 8}, {".nv_debug_ptx_txt", std::string(1000, 't')}});
  std::vector<std::string> files = {"", "\177ELF",
                                    "not an ELF file, but longer than the header of one, by some bytes more",
                                    elf({{".text.k", "code", 8}})};
  for (size_t keep = 0; keep < whole.size(); keep += 40) // truncated anywhere before the section headers' end
    if (keep < whole.size() - 100)
      files.push_back(whole.substr(0, keep));
  for (const std::string &file : files) {
    std::string same = file;
    tilegym::emit::dropPtxText(same);
    CHECK(same == file);
  }
}
