// SPDX-License-Identifier: MIT
// Tuned tables: what `tilegymc tune` measured for one op on one target, TUNED/ARCH/OP.json. For each variant that an entry speaks of, its point stands in
// for the cost model's choice.
#pragma once
#include "compiler/driver/Variants.h"
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace tilegym::driver {

/// Where the tables of the specs in a folder are: kernels/tuned beside that folder.
std::string standardTunedFolder(const sem::OpModel &op);
std::string tunedTablePath(const std::string &folder, std::string_view chip, std::string_view op);

/// A point as tables write it: `{"BM": 2, "warps": 8, "hold": "registers"}`, without the derived parameters.
nlohmann::ordered_json pointJson(const sem::OpModel &op, const sem::Specialization &spec);
/// An entry without its point: the kernel, and every dtype, const, listed dim, optional tensor and derived parameter that has a choice.
nlohmann::ordered_json keyJson(const sem::OpModel &op, const sem::Specialization &spec);

class TunedTable {
public:
  /// The table at `path`; one that says nothing where there is no such file. Errors name the table's line.
  static TunedTable read(const std::string &path, const sem::OpModel &op, std::string_view chip,
                         DiagnosticSink &sink);
  /// Null where there is none. Must live as long as what was reported.
  const std::shared_ptr<const SourceFile> &source() const { return file; }
  /// Leaves the slot its tuned point alone. False where no entry speaks of the slot, and where the entry is stale, which is an error.
  bool apply(const sem::OpModel &op, VariantSlot &slot, DiagnosticSink &sink) const;

private:
  struct Entry {
    nlohmann::json json;
    SourceRange range;
  };
  bool check(const sem::OpModel &op, const Entry &entry, DiagnosticSink &sink) const;

  std::shared_ptr<const SourceFile> file;
  std::vector<Entry> entries;
};

} // namespace tilegym::driver
