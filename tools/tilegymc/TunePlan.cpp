// SPDX-License-Identifier: MIT
// Plans as JSON.
#include "TunePlan.h"
#include "tilegym/format/Checksum.h"
#include <algorithm>
#include <cinttypes>
#include <fstream>
#include <iterator>

namespace tilegym::cli {
namespace {

constexpr int kFormat = 3;

Json shapeJson(const Shape &shape) {
  Json j = Json::object();
  for (const auto &[dim, value] : shape)
    j[dim] = value;
  return j;
}

TuneOp readOp(const Json &j) {
  TuneOp op{j.at("op"), j.at("package"), j.at("hash"), {}, {}, {}};
  for (const Json &one : j.at("shapes")) {
    Shape shape;
    for (const auto &[dim, value] : one.items())
      shape.emplace_back(dim, value.get<int64_t>());
    op.shapes.push_back(std::move(shape));
  }
  for (const Json &name : j.at("dtypes")) {
    std::optional<DType> dtype = parseDType(name.get<std::string>());
    if (!dtype)
      throw Json::other_error::create(501, "no dtype: " + name.dump(), &j);
    op.dtypes.push_back(*dtype);
  }
  for (const Json &point : j.at("points"))
    op.points.push_back({point.at("entry"), point.at("code"), point.at("key"), point.at("point")});
  return op;
}

} // namespace

std::string checksumText(std::string_view bytes) {
  char text[20];
  std::snprintf(text, sizeof text, "%016" PRIx64, format::checksum64(bytes.data(), bytes.size()));
  return text;
}

std::optional<std::string> readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return std::nullopt;
  std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return in.bad() ? std::nullopt : std::optional(std::move(bytes));
}

std::string planPath(const std::string &folder) { return folder + "/plan.json"; }

std::string TunePlan::text() const {
  Json j = {{"format", kFormat}, {"arch", arch}, {"versions", versions}, {"ops", Json::array()}};
  for (const TuneOp &op : ops) {
    Json o = {{"op", op.op},
              {"package", op.package},
              {"hash", op.hash},
              {"shapes", Json::array()},
              {"dtypes", Json::array()},
              {"points", Json::array()}};
    for (const Shape &shape : op.shapes)
      o["shapes"].push_back(shapeJson(shape));
    for (DType dtype : op.dtypes)
      o["dtypes"].push_back(name(dtype));
    for (const TunePoint &point : op.points)
      o["points"].push_back(
          {{"entry", point.entry}, {"code", point.code}, {"key", point.key}, {"point", point.point}});
    j["ops"].push_back(std::move(o));
  }
  return j.dump(1) + "\n";
}

std::vector<sem::TestCall> plannedCalls(const sem::OpModel &op, const sem::BenchModel &bench,
                                        const TuneOp &part, DiagnosticSink &sink) {
  std::vector<sem::TestCall> calls = shapedCalls(op, bench, part.shapes, sink);
  if (!part.dtypes.empty())
    std::erase_if(calls, [&](const sem::TestCall &call) {
      const std::vector<DType> &has = call.bound.spec.dtypes;
      return std::none_of(has.begin(), has.end(), [&](DType dtype) {
        return std::find(part.dtypes.begin(), part.dtypes.end(), dtype) != part.dtypes.end();
      });
    });
  return calls;
}

std::optional<TunePlan> readPlan(const std::string &folder) {
  std::optional<std::string> text = readFile(planPath(folder));
  if (!text) {
    complain("there is no plan in '%s': build one where LLVM is, with `tilegymc tune OP --build %s`",
             folder.c_str(), folder.c_str());
    return std::nullopt;
  }
  TunePlan plan;
  plan.hash = checksumText(*text);
  try {
    Json j = Json::parse(*text);
    if (j.at("format") != kFormat) {
      complain("%s has format %s, expected %d: build it again", planPath(folder).c_str(),
               j.at("format").dump().c_str(), kFormat);
      return std::nullopt;
    }
    plan.arch = j.at("arch");
    plan.versions = j.at("versions");
    for (const Json &op : j.at("ops"))
      plan.ops.push_back(readOp(op));
  } catch (const Json::exception &error) {
    complain("%s is no plan of `tune --build`: %s", planPath(folder).c_str(), error.what());
    return std::nullopt;
  }
  return plan;
}

} // namespace tilegym::cli
