// SPDX-License-Identifier: MIT
// What `tune --build` leaves for `--measure` and `--finish`: FOLDER/plan.json, and a package an op with every point to measure.
#pragma once
#include "Specs.h"
#include "compiler/semantics/TestCalls.h"
#include <nlohmann/json.hpp>

namespace tilegym::cli {

using Json = nlohmann::ordered_json;
/// Values of dims by name, in place of the bench section's.
using Shape = std::vector<std::pair<std::string, int64_t>>;

struct TunePoint {
  std::string entry; ///< of the package
  Json key, point;   ///< as a tuned table's entry has them
  bool operator==(const TunePoint &) const = default;
};
struct TuneOp {
  std::string op, package, hash; ///< the package's file and the checksum of its bytes
  std::vector<Shape> shapes;     ///< empty: those of the bench section
  std::vector<TunePoint> points; ///< of equal ones, the first is the likely fastest
};
struct TunePlan {
  std::string arch, versions;
  std::vector<TuneOp> ops;
  std::string hash; ///< of the file's bytes
  std::string text() const;
};

/// "R=65536,N=1024"; nothing after complaining.
std::optional<Shape> parseShape(const std::string &text);
/// The bench section's calls at the shapes, equal ones once; `name` says dims, dtypes and consts.
std::vector<sem::TestCall> tuneCalls(const sem::OpModel &op, const sem::BenchModel &bench,
                                     const std::vector<Shape> &shapes, DiagnosticSink &sink);
/// Nothing after complaining: no such folder, another format, a package that is missing or not the one that was built.
std::optional<TunePlan> readPlan(const std::string &folder);
std::string planPath(const std::string &folder);
std::string checksumText(std::string_view bytes);
/// The whole file; nothing where it cannot be read.
std::optional<std::string> readFile(const std::string &path);

} // namespace tilegym::cli
