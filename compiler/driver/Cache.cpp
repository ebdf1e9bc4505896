// SPDX-License-Identifier: MIT
// Files of the cache: a line of numbers, then the texts one after another, then the checksum of all before it.
#include "compiler/driver/Cache.h"
#include "tilegym/format/Checksum.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tilegym::driver {
namespace {

constexpr StringLiteral kMagic = "tilegymc-cache-3\n";

/// Numbers and texts to bytes and back, in one order.
struct Encoder {
  std::string bytes;
  void number(int64_t value) { bytes.append(reinterpret_cast<const char *>(&value), sizeof value); }
  void text(StringRef value) {
    number(int64_t(value.size()));
    bytes.append(value.data(), value.size());
  }
};

struct Decoder {
  StringRef bytes;
  bool ok = true;
  int64_t number() {
    int64_t value = 0;
    if (bytes.size() < sizeof value) {
      ok = false;
      return 0;
    }
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes = bytes.drop_front(sizeof value);
    return value;
  }
  std::string text() {
    int64_t size = number();
    if (size < 0 || uint64_t(size) > bytes.size()) {
      ok = false;
      return {};
    }
    std::string value = bytes.take_front(size).str();
    bytes = bytes.drop_front(size);
    return value;
  }
};

std::string encode(const emit::PackageVariant &k) {
  Encoder e;
  e.bytes = kMagic.str();
  e.text(k.abi.entry);
  for (int64_t value : {int64_t(k.abi.facts), k.abi.gridRank, k.abi.warps, k.abi.producer, k.abi.ctas,
                        k.abi.blocksPerSm, k.sharedBytes, int64_t(k.abi.params.size()),
                        int64_t(k.abi.tensors.size()), int64_t(k.abi.maps.size())})
    e.number(value);
  for (const tile::KernelParam &p : k.abi.params)
    for (int64_t value : {int64_t(p.kind), p.id, p.axis, p.bytes, p.list})
      e.number(value);
  for (const tile::TensorFacts &t : k.abi.tensors)
    e.number(t.bits());
  for (const tile::TensorMapABI &m : k.abi.maps) {
    for (int64_t value : {m.tensor, m.swizzle, int64_t(m.axes.size())})
      e.number(value);
    for (const tile::MapAxis &a : m.axes)
      for (int64_t value : {a.box, a.dim, a.extent, a.stride})
        e.number(value);
  }
  const emit::Resources &r = k.resources;
  for (unsigned value :
       {r.registers, r.staticShared, r.stack, r.spillStores, r.spillLoads, r.barriers, r.constantBytes})
    e.number(value);
  e.text(k.ptx);
  e.text(k.cubin);
  e.number(int64_t(format::checksum64(e.bytes.data(), e.bytes.size())));
  return std::move(e.bytes);
}

std::optional<emit::PackageVariant> decode(StringRef bytes) {
  if (bytes.size() < 8)
    return std::nullopt;
  Decoder sum{bytes.take_back(8)};
  bytes = bytes.drop_back(8);
  if (uint64_t(sum.number()) != format::checksum64(bytes.data(), bytes.size()) ||
      !bytes.consume_front(kMagic))
    return std::nullopt;
  Decoder d{bytes};
  emit::PackageVariant k;
  k.abi.entry = d.text();
  k.abi.facts = tile::Facts(d.number());
  k.abi.gridRank = d.number();
  k.abi.warps = d.number();
  k.abi.producer = d.number();
  k.abi.ctas = d.number();
  k.abi.blocksPerSm = d.number();
  k.sharedBytes = d.number();
  int64_t params = d.number(), tensors = d.number(), maps = d.number();
  for (int64_t i = 0; d.ok && i < params; ++i) {
    tile::KernelParam p;
    p.kind = tile::ParamKind(d.number());
    p.id = d.number();
    p.axis = d.number();
    p.bytes = d.number();
    p.list = d.number();
    k.abi.params.push_back(p);
  }
  for (int64_t i = 0; d.ok && i < tensors; ++i)
    k.abi.tensors.push_back(tile::TensorFacts::fromBits(d.number()));
  for (int64_t i = 0; d.ok && i < maps; ++i) {
    tile::TensorMapABI &m = k.abi.maps.emplace_back();
    m.tensor = d.number();
    m.swizzle = d.number();
    for (int64_t axes = d.number(); d.ok && axes > 0; --axes) {
      tile::MapAxis &a = m.axes.emplace_back();
      for (int64_t *value : {&a.box, &a.dim, &a.extent, &a.stride})
        *value = d.number();
    }
  }
  emit::Resources &r = k.resources;
  for (unsigned *value : {&r.registers, &r.staticShared, &r.stack, &r.spillStores, &r.spillLoads, &r.barriers,
                          &r.constantBytes})
    *value = unsigned(d.number());
  k.ptx = d.text();
  k.cubin = d.text();
  return d.ok && d.bytes.empty() ? std::optional(std::move(k)) : std::nullopt;
}

} // namespace

std::string hashText(StringRef text) {
  SHA256 sha;
  sha.update(text);
  return toHex(sha.final(), /*LowerCase=*/true).substr(0, 32);
}

Cache Cache::standard() {
  Cache cache;
  SmallString<256> folder;
  if (auto own = sys::Process::GetEnv("TILEGYM_CACHE_DIR"))
    folder = *own;
  else if (auto xdg = sys::Process::GetEnv("XDG_CACHE_HOME"); xdg && !xdg->empty())
    sys::path::append(folder, *xdg, "tilegymc");
  else if (auto home = sys::Process::GetEnv("HOME"); home && !home->empty())
    sys::path::append(folder, *home, ".cache", "tilegymc");
  if (folder.empty()) {
    cache.problem = "there is no folder for the cache (HOME is not set); set TILEGYM_CACHE_DIR";
    return cache;
  }
  std::error_code ec = sys::fs::create_directories(folder);
  if (!ec)
    ec = sys::fs::access(folder, sys::fs::AccessMode::Write);
  if (ec) {
    cache.problem = "the cache folder '" + std::string(folder) + "' cannot be used: " + ec.message() +
                    "; set TILEGYM_CACHE_DIR to another";
    return cache;
  }
  cache.folder = std::string(folder);
  return cache;
}

std::optional<emit::PackageVariant> Cache::find(StringRef key) const {
  if (folder.empty())
    return std::nullopt;
  SmallString<256> path(folder);
  sys::path::append(path, key);
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer ? decode((*buffer)->getBuffer()) : std::nullopt;
}

void Cache::store(StringRef key, const emit::PackageVariant &variant) const {
  if (folder.empty())
    return;
  SmallString<256> path(folder);
  sys::path::append(path, key);
  Expected<sys::fs::TempFile> temporary = sys::fs::TempFile::create(path + ".%%%%%%%%.tmp");
  if (!temporary) { // a full or read-only disk costs time, not the result
    consumeError(temporary.takeError());
    return;
  }
  raw_fd_ostream stream(temporary->FD, /*shouldClose=*/false);
  stream << encode(variant);
  stream.flush();
  bool failed = stream.has_error();
  stream.clear_error();
  consumeError(failed ? temporary->discard() : temporary->keep(path));
}

} // namespace tilegym::driver
