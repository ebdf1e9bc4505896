// SPDX-License-Identifier: MIT
// Plans as JSON, and the calls that they stand for.
#include "TunePlan.h"
#include "BenchCalls.h"
#include "tilegym/format/Checksum.h"
#include <algorithm>
#include <cinttypes>
#include <fstream>
#include <iterator>
#include <set>

namespace tilegym::cli {
namespace {

constexpr int kFormat = 1;

std::string callName(const sem::OpModel &op, const sem::TestCall &call) {
  std::string name;
  auto add = [&](const std::string &what, const std::string &value) {
    name += (name.empty() ? "" : " ") + what + "=" + value;
  };
  for (size_t i = 0; i < op.dims.size(); ++i)
    add(op.dims[i].name, std::to_string(call.bound.values.dims[i]));
  const sem::Specialization &spec = call.bound.spec;
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (op.typeVars[i].choices.size() > 1)
      add(op.typeVars[i].name, std::string(tilegym::name(spec.dtypes[i])));
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (op.scalars[i].isConst)
      add(op.scalars[i].name, std::to_string(spec.consts[i].asInt()));
  for (size_t i = 0; i < op.tensors.size(); ++i)
    if (op.tensors[i].optional && spec.present[i])
      name += " " + op.tensors[i].name;
  return name;
}

Json shapeJson(const Shape &shape) {
  Json j = Json::object();
  for (const auto &[dim, value] : shape)
    j[dim] = value;
  return j;
}

TuneOp readOp(const Json &j) {
  TuneOp op{j.at("op"), j.at("package"), j.at("hash"), {}, {}};
  for (const Json &one : j.at("shapes")) {
    Shape shape;
    for (const auto &[dim, value] : one.items())
      shape.emplace_back(dim, value.get<int64_t>());
    op.shapes.push_back(std::move(shape));
  }
  for (const Json &point : j.at("points"))
    op.points.push_back({point.at("entry"), point.at("key"), point.at("point")});
  return op;
}

} // namespace

std::optional<Shape> parseShape(const std::string &text) {
  Shape shape;
  for (const std::string &part : splitList({text})) {
    size_t equals = part.find('=');
    char *end = nullptr;
    long long value = equals == std::string::npos ? 0 : std::strtoll(part.c_str() + equals + 1, &end, 10);
    if (equals == std::string::npos || equals == 0 || *end || end == part.c_str() + equals + 1 || value < 1) {
      complain("--shape: found '%s', expected values of dims, such as R=4096,N=1024", text.c_str());
      return std::nullopt;
    }
    shape.emplace_back(part.substr(0, equals), value);
  }
  return shape;
}

std::vector<sem::TestCall> tuneCalls(const sem::OpModel &op, const sem::BenchModel &bench,
                                     const std::vector<Shape> &shapes, DiagnosticSink &sink) {
  std::vector<sem::TestCall> calls;
  std::set<std::string> names;
  SourceRange place = op.spec->bench->range;
  for (const Shape &shape : shapes.empty() ? std::vector<Shape>{{}} : shapes)
    for (sem::TestCall call : sem::benchCalls(op, bench, sink)) {
      bool fits = true;
      for (const auto &[name, value] : shape) {
        int64_t dim = op.findDim(name);
        std::optional<sem::TestCall> other;
        if (dim < 0 || !op.dims[size_t(dim)].choices.empty())
          sink.error(place, "--shape: '" + name + "' is no run-time dim of the op");
        else if (other = withDim(op, call, size_t(dim), value); !other)
          sink.error(place, "--shape: the op refuses " + name + "=" + std::to_string(value));
        fits &= other.has_value();
        if (other)
          call = std::move(*other);
      }
      call.name = callName(op, call);
      if (fits && names.insert(call.name).second)
        calls.push_back(std::move(call));
      if (sink.hasErrors())
        return {};
    }
  return calls;
}

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
              {"points", Json::array()}};
    for (const Shape &shape : op.shapes)
      o["shapes"].push_back(shapeJson(shape));
    for (const TunePoint &point : op.points)
      o["points"].push_back({{"entry", point.entry}, {"key", point.key}, {"point", point.point}});
    j["ops"].push_back(std::move(o));
  }
  return j.dump(1) + "\n";
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
