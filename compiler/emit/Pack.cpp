// SPDX-License-Identifier: MIT
// At each place the longest match among the last few that begin with the same four bytes; one place further is tried before a match is taken.
#include "compiler/emit/Pack.h"
#include "tilegym/format/Unpack.h"
#include <algorithm>
#include <vector>

namespace tilegym::emit {
namespace {

using format::kLeastMatch;

constexpr size_t kHashBits = 15;
constexpr int kMaxTries = 64;
constexpr uint32_t kNowhere = ~uint32_t(0);

struct Match {
  size_t length = 0, distance = 0;
  /// Bytes saved, about: what is copied less what says so.
  size_t gain() const {
    size_t cost = distance < 128 ? 3 : distance < 16384 ? 4 : 5;
    return length > cost ? length - cost : 0;
  }
};

class Packer {
public:
  explicit Packer(std::string_view bytes)
      : bytes(bytes), last(size_t(1) << kHashBits, kNowhere), before(bytes.size(), kNowhere) {}

  std::string run() {
    size_t at = 0, literals = 0; // where the bytes begin that go as they are
    while (at + kLeastMatch <= bytes.size()) {
      Match match = longest(at);
      enter(at);
      if (!match.gain() ||
          (at + 1 + kLeastMatch <= bytes.size() && longest(at + 1).gain() > match.gain() + 1)) {
        ++at;
        continue;
      }
      put(literals, at);
      number(match.length - kLeastMatch);
      number(match.distance);
      for (size_t i = 1; i < match.length; ++i)
        enter(at + i);
      at += match.length;
      literals = at;
    }
    put(literals, bytes.size());
    return std::move(out);
  }

private:
  size_t hash(size_t at) const {
    uint32_t word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word * 0x9e3779b1u >> (32 - kHashBits);
  }

  void enter(size_t at) {
    if (at + kLeastMatch > bytes.size())
      return;
    uint32_t &head = last[hash(at)];
    before[at] = head;
    head = uint32_t(at);
  }

  Match longest(size_t at) const {
    Match best;
    uint32_t from = last[hash(at)];
    for (int tries = 0; from != kNowhere && tries < kMaxTries; ++tries, from = before[from]) {
      size_t length = 0, most = bytes.size() - at;
      while (length < most && bytes[from + length] == bytes[at + length])
        ++length;
      Match match{length, at - from};
      if (length >= kLeastMatch && match.gain() > best.gain())
        best = match;
    }
    return best;
  }

  void put(size_t begin, size_t end) {
    number(end - begin);
    out += bytes.substr(begin, end - begin);
  }

  void number(size_t value) {
    for (; value >= 0x80; value >>= 7)
      out += char((value & 0x7f) | 0x80);
    out += char(value);
  }

  std::string_view bytes;
  std::vector<uint32_t> last, before; ///< by hash the latest place; by place the one before of the same hash
  std::string out;
};

} // namespace

std::string pack(std::string_view bytes) { return Packer(bytes).run(); }

} // namespace tilegym::emit
