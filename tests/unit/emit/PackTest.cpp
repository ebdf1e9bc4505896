// SPDX-License-Identifier: MIT
// Packed bytes come back as they were; bytes that were not packed do no harm.
#include "compiler/emit/Pack.h"
#include "tilegym/format/Unpack.h"
#include <catch2/catch.hpp>
#include <random>

using tilegym::emit::pack;

namespace {

bool unpack(const std::string &packed, std::string &out) {
  // A copy of the exact size, so that a sanitizer sees a read beyond it.
  std::unique_ptr<char[]> exact(new char[packed.size()]);
  std::copy(packed.begin(), packed.end(), exact.get());
  return tilegym::format::unpack(exact.get(), packed.size(), out.data(), out.size());
}

std::vector<std::string> samples() {
  std::mt19937 random(7);
  std::vector<std::string> all = {"", "a", "abc", "abcd", "abcdabcd", std::string(100000, 'x')};
  std::string noise, words, records;
  for (int i = 0; i < 5000; ++i) {
    noise += char(random());
    words += "add.s32 %r" + std::to_string(random() % 50) + ", %r1, 4;\n";
    records += std::string("\x10\x72\x02\x00", 4) + char(random() % 8) + std::string(11, char(random() % 3));
  }
  all.insert(all.end(), {noise, words, records, noise + noise, records + words + records});
  return all;
}

} // namespace

TEST_CASE("packed bytes come back") {
  for (const std::string &bytes : samples()) {
    std::string packed = pack(bytes), back(bytes.size(), '?');
    INFO(bytes.size() << " bytes, packed " << packed.size());
    REQUIRE(unpack(packed, back));
    CHECK(back == bytes);
    CHECK(packed == pack(bytes));
    CHECK(packed.size() <= bytes.size() + 8);
  }
  CHECK(pack(std::string(100000, 'x')).size() < 12);
  CHECK(pack(samples()[7]).size() * 3 < samples()[7].size());
}

TEST_CASE("what is not packed bytes of that size is refused, and nothing beyond the ends is touched") {
  std::mt19937 random(11);
  for (const std::string &bytes : samples()) {
    std::string packed = pack(bytes);
    for (size_t size : {bytes.size() + 1, bytes.size() / 2, bytes.size() - 1})
      if (std::string wrong(size <= bytes.size() + 1 ? size : 0, '?'); wrong.size() != bytes.size())
        CHECK_FALSE(unpack(packed, wrong));
    for (int i = 0; i < 50; ++i) {
      std::string back(bytes.size(), '?');
      CHECK_FALSE(unpack(packed.substr(0, random() % packed.size()), back));
      std::string altered = packed;
      altered[random() % altered.size()] ^= char(1 + random() % 255);
      unpack(altered, back); // may be right by chance, must not read or write elsewhere
    }
  }
}
