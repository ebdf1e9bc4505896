// SPDX-License-Identifier: MIT
// What `tune --build` leaves for `--measure` and `--finish`: FOLDER/plan.json, and a package an op with every point to measure.
#pragma once
#include "BenchCalls.h"
#include <nlohmann/json.hpp>

namespace tilegym::cli {

using Json = nlohmann::ordered_json;

struct TunePoint {
  std::string entry, code; ///< of the package; the checksum of its PTX
  Json key, point;         ///< as a tuned table's entry has them
  bool operator==(const TunePoint &) const = default;
};
struct TuneOp {
  std::string op, package, hash; ///< the package's file and the checksum of its bytes
  std::vector<Shape> shapes;     ///< empty: those of the bench section
  std::vector<DType> dtypes;     ///< empty: all of the bench section
  std::vector<TunePoint> points; ///< of equal ones, the first is the likely fastest
};
struct TunePlan {
  std::string arch, versions;
  std::vector<TuneOp> ops;
  std::string hash; ///< of the file's bytes
  std::string text() const;
};

/// The calls that an op is tuned by.
std::vector<sem::TestCall> plannedCalls(const sem::OpModel &op, const sem::BenchModel &bench,
                                        const TuneOp &part, DiagnosticSink &sink);
/// Nothing after complaining: no such folder, another format, a package that is missing or not the one that was built.
std::optional<TunePlan> readPlan(const std::string &folder);
std::string planPath(const std::string &folder);
std::string checksumText(std::string_view bytes);
/// The whole file; nothing where it cannot be read.
std::optional<std::string> readFile(const std::string &path);

} // namespace tilegym::cli
