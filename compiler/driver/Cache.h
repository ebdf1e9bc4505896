// SPDX-License-Identifier: MIT
// Compiled kernels by content: a key is a hash of everything the result depends on. Entries are written to a temporary name and renamed, and carry a
// checksum, so that several processes may share a folder and a damaged entry is only made again. Where the folder cannot be used, compiling goes on without.
#pragma once
#include "compiler/emit/Package.h"
#include <optional>
#include <string>

namespace tilegym::driver {

class Cache {
public:
  /// TILEGYM_CACHE_DIR, else XDG_CACHE_HOME/tilegymc, else HOME/.cache/tilegymc; nothing usable: a cache that never has anything.
  static Cache standard();
  /// Never has anything, keeps nothing.
  Cache() = default;

  /// What compiling gives: ABI, PTX, cubin, resources. Specialization, grid and arch are for the caller to fill in.
  std::optional<emit::PackageVariant> find(llvm::StringRef key) const;
  void store(llvm::StringRef key, const emit::PackageVariant &variant) const;
  /// Why there is no folder; empty where there is one.
  std::string problem;

private:
  std::string folder;
};

/// 32 hexadecimal digits.
std::string hashText(llvm::StringRef text);

} // namespace tilegym::driver
