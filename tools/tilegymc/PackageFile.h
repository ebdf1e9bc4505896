// SPDX-License-Identifier: MIT
// The kernel package that a command works on: a .tgk file, or one compiled on the fly where this tilegymc has the compiler.
#pragma once
#include "Specs.h"
#include "runtime/src/KernelLaunch.h"
#include "tilegym/tilegym.h"
#include <cstdint>
#include <functional>

namespace tilegym::cli {

class PackageFile {
public:
  /// Null after complaining: no such file, truncated, altered, of another version.
  static std::shared_ptr<PackageFile> open(const std::string &path);
  static std::shared_ptr<PackageFile> fromBytes(std::string_view bytes, const std::string &source);
  ~PackageFile();

  TilegymPackage *handle() const { return package; }
  const runtime::Table &table() const { return records; }
  /// For launches of a variant that the runtime would not choose.
  runtime::Loader &loader() const { return *code; }
  std::optional<size_t> findOp(std::string_view name) const;
  /// True where the op was compiled from the text that the spec has now.
  bool isOf(size_t number, const sem::OpModel &op) const;
  const std::string &source() const { return name; }

private:
  std::vector<uint64_t> storage; ///< words, as the block must be aligned
  runtime::Table records;
  std::unique_ptr<runtime::Loader> code;
  TilegymPackage *package = nullptr;
  std::string name;
};

struct PackageChoice {
  std::shared_ptr<PackageFile> file;
  std::string lacking; ///< why there is none, where that is no error
  int code = Ok;       ///< otherwise an error was said
};
/// `ops` compiled for the simulator, as code for `chip` ("sm_90a") is; of their variants those that `wanted` takes.
using WantedVariants =
    std::function<bool(const sem::OpModel &, const sem::Specialization &, bool transposed)>;
PackageChoice compileForSimulator(const std::vector<OpPtr> &ops, const std::string &chip, unsigned jobs,
                                  const WantedVariants &wanted);
/// `path` where it is given; else `ops` compiled for `arch` (90; 0: the newest), where the compiler is built in.
PackageChoice choosePackage(const std::string &path, const std::vector<OpPtr> &ops, int arch);

} // namespace tilegym::cli
