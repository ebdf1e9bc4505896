// SPDX-License-Identifier: MIT
// A table is JSON with one entry a line. An entry's `kernel`, `dtypes`, `consts`, `dims`, `present` and `derived` say which variants it speaks of: those that
// agree in every name that it has. A dtype without an entry of its own takes that of another of the same kind and size (f16 that of bf16).
#include "compiler/driver/TunedTable.h"
#include "compiler/semantics/Knobs.h"
#include "compiler/semantics/SpecLookup.h"
#include <algorithm>
#include <filesystem>
#include <set>

namespace tilegym::driver {
namespace {

using json = nlohmann::json;

constexpr int kFormat = 1;

std::string retune(const sem::OpModel &op, std::string_view chip) {
  return "retune: `tilegymc tune " + op.name + " --arch " + std::string(chip) +
         "`, or remove the table to go by the cost model";
}

/// Characters for the JSON parser, which says how many it has taken.
struct Cursor {
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = const char &;
  const char *at = nullptr;
  size_t *taken = nullptr;
  reference operator*() const { return *at; }
  Cursor &operator++() { return ++at, ++*taken, *this; }
  bool operator==(const Cursor &other) const { return at == other.at; }
};

/// The document, and where each of its entries begins.
json parse(std::string_view text, std::vector<size_t> &places) {
  size_t taken = 0;
  bool inEntries = false;
  auto note = [&](int depth, json::parse_event_t event, json &parsed) {
    if (depth == 1 && event == json::parse_event_t::key)
      inEntries = parsed == "entries";
    if (depth == 2 && event == json::parse_event_t::object_start && inEntries)
      places.push_back(taken - 1);
    return true;
  };
  return json::parse(Cursor{text.data(), &taken}, Cursor{text.data() + text.size(), &taken}, note);
}

std::string textOf(const json &value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string constText(const sem::ScalarParam &scalar, const sem::Constant &value) {
  if (size_t(value.asInt()) < scalar.enumerators.size())
    return scalar.enumerators[size_t(value.asInt())];
  return value.isBool() ? (value.asBool() ? "true" : "false") : std::to_string(value.asInt());
}

bool isAlike(DType a, DType b) { return isFloat(a) == isFloat(b) && sizeInBytes(a) == sizeInBytes(b); }

/// Does the entry's `group` agree with what `valueOf` says of each of its names?
template <class ValueOf> bool agrees(const json &entry, const char *group, ValueOf valueOf) {
  auto found = entry.find(group);
  if (found == entry.end())
    return true;
  return std::all_of(found->items().begin(), found->items().end(),
                     [&](const auto &item) { return valueOf(item.key()) == textOf(item.value()); });
}

bool speaksOf(const sem::OpModel &op, const json &entry, const sem::Specialization &spec, bool exactly) {
  auto dtypesAgree = [&] {
    auto found = entry.find("dtypes");
    if (found == entry.end())
      return true;
    return std::all_of(found->items().begin(), found->items().end(), [&](const auto &item) {
      DType have = spec.dtypes[size_t(op.findTypeVar(item.key()))];
      DType wanted = *parseDType(item.value().template get<std::string>());
      return exactly ? have == wanted : isAlike(have, wanted);
    });
  };
  return entry["kernel"] == op.kernels[size_t(spec.kernel)].name && dtypesAgree() &&
         agrees(entry, "consts",
                [&](const std::string &name) {
                  size_t id = size_t(op.findScalar(name));
                  return constText(op.scalars[id], spec.consts[id]);
                }) &&
         agrees(entry, "dims",
                [&](const std::string &name) {
                  return std::to_string(spec.constDims[size_t(op.findDim(name))]);
                }) &&
         agrees(entry, "present",
                [&](const std::string &name) {
                  return std::string(spec.present[size_t(op.findTensor(name))] ? "true" : "false");
                }) &&
         agrees(entry, "derived", [&](const std::string &name) {
           auto found = std::find_if(spec.params.begin(), spec.params.end(),
                                     [&](const sem::NamedInt &p) { return p.name == name; });
           return found == spec.params.end() ? "" : std::to_string(found->value);
         });
}

} // namespace

std::string standardTunedFolder(const sem::OpModel &op) {
  namespace fs = std::filesystem;
  fs::path folder = fs::path(op.spec->file->name()).parent_path();
  return (folder / ".." / "kernels" / "tuned").lexically_normal().string();
}

std::string tunedTablePath(const std::string &folder, std::string_view chip, std::string_view op) {
  return (std::filesystem::path(folder) / chip / (std::string(op) + ".json")).string();
}

nlohmann::ordered_json pointJson(const sem::OpModel &op, const sem::Specialization &spec) {
  nlohmann::ordered_json point = nlohmann::ordered_json::object();
  const sem::KernelModel &kernel = op.kernels[size_t(spec.kernel)];
  for (size_t p = 0; p < kernel.tileParams.size(); ++p)
    for (const sem::NamedInt &param : spec.params)
      if (param.name == kernel.tileParams[p] && !kernel.derived[p])
        point[param.name] = param.value;
  for (const sem::NamedInt &knob : spec.knobs) {
    const sem::KnobInfo *info = sem::findKnob(knob.name);
    bool isWord = info && (info->kind == sem::KnobInfo::Word || info->kind == sem::KnobInfo::Bool);
    point[knob.name] = isWord ? json(sem::knobText(knob.name, knob.value)) : json(knob.value);
  }
  return point;
}

nlohmann::ordered_json keyJson(const sem::OpModel &op, const sem::Specialization &spec) {
  const sem::KernelModel &kernel = op.kernels[size_t(spec.kernel)];
  nlohmann::ordered_json key = {{"kernel", kernel.name}};
  for (size_t i = 0; i < op.typeVars.size(); ++i)
    if (op.typeVars[i].choices.size() > 1)
      key["dtypes"][op.typeVars[i].name] = std::string(name(spec.dtypes[i]));
  for (size_t i = 0; i < op.scalars.size(); ++i)
    if (op.scalars[i].isConst)
      key["consts"][op.scalars[i].name] = constText(op.scalars[i], spec.consts[i]);
  for (size_t i = 0; i < op.dims.size(); ++i)
    if (!op.dims[i].choices.empty())
      key["dims"][op.dims[i].name] = spec.constDims[i];
  for (size_t i = 0; i < op.tensors.size(); ++i)
    if (op.tensors[i].optional)
      key["present"][op.tensors[i].name] = bool(spec.present[i]);
  for (size_t p = 0; p < kernel.tileParams.size(); ++p)
    for (const sem::NamedInt &param : spec.params)
      if (param.name == kernel.tileParams[p] && kernel.derived[p])
        key["derived"][param.name] = param.value;
  return key;
}

bool TunedTable::check(const sem::OpModel &op, const Entry &entry, DiagnosticSink &sink) const {
  const json &j = entry.json;
  auto wrong = [&](const std::string &what) {
    sink.error(entry.range, "this entry of a tuned table " + what, "retune: `tilegymc tune " + op.name + "`");
    return false;
  };
  if (!j.contains("kernel") || !j["kernel"].is_string() || !j.contains("point") || !j["point"].is_object())
    return wrong("has no `kernel` or no `point`");
  auto kernel = std::find_if(op.kernels.begin(), op.kernels.end(),
                             [&](const sem::KernelModel &k) { return j["kernel"] == k.name; });
  if (kernel == op.kernels.end())
    return wrong("is for the kernel '" + j["kernel"].get<std::string>() + "', which the op does not have");
  for (const auto &[group, values] : j.items()) {
    if (group == "kernel" || group == "point")
      continue;
    static const std::set<std::string> groups = {"dtypes", "consts", "dims", "present", "derived"};
    if (!groups.count(group) || !values.is_object())
      return wrong("has '" + group + "', which it does not know or which is no object");
    for (const auto &[name, value] : values.items()) {
      bool known = false;
      if (group == "dtypes")
        known = op.findTypeVar(name) >= 0 && value.is_string() && parseDType(value.get<std::string>());
      else if (group == "consts")
        known = op.findScalar(name) >= 0 && op.scalars[size_t(op.findScalar(name))].isConst;
      else if (group == "dims")
        known = op.findDim(name) >= 0;
      else if (group == "present")
        known = op.findTensor(name) >= 0;
      else if (group == "derived")
        known =
            std::find(kernel->tileParams.begin(), kernel->tileParams.end(), name) != kernel->tileParams.end();
      if (!known)
        return wrong("has '" + name + "' among its '" + group + "', which the op does not have");
    }
  }
  return true;
}

TunedTable TunedTable::read(const std::string &path, const sem::OpModel &op, std::string_view chip,
                            DiagnosticSink &sink) {
  TunedTable table;
  table.file = sem::readSource(path);
  if (!table.file)
    return table;
  SourceRange whole{table.file.get(), 0, 1};
  std::vector<size_t> places;
  json j;
  try {
    j = parse(table.file->text(), places);
  } catch (const json::exception &error) {
    sink.error(whole, std::string("this is no tuned table: ") + error.what(), retune(op, chip));
    return table;
  }
  auto has = [&](const char *key, const json &value) {
    return j.is_object() && j.value(key, json()) == value;
  };
  auto found = [&](const char *key) { return j.is_object() && j.contains(key) ? j[key].dump() : "nothing"; };
  if (!has("format", kFormat))
    sink.error(whole,
               "this tuned table has format " + found("format") + ", expected " + std::to_string(kFormat),
               retune(op, chip));
  else if (!has("op", op.name))
    sink.error(whole, "this tuned table is for the op " + found("op") + ", expected \"" + op.name + "\"",
               retune(op, chip));
  else if (!has("arch", chip))
    sink.error(whole,
               "this table was tuned for " + found("arch") + ", expected \"" + std::string(chip) +
                   "\": what is fastest on one GPU says nothing of another",
               retune(op, chip));
  else if (!j.contains("entries") || !j["entries"].is_array() || j["entries"].size() != places.size())
    sink.error(whole, "this tuned table has no list of entries", retune(op, chip));
  if (sink.hasErrors())
    return table;
  std::set<json> keys;
  for (size_t i = 0; i < places.size(); ++i) {
    uint32_t begin = uint32_t(places[i]);
    Entry entry{j["entries"][i], {table.file.get(), begin, begin + 1}};
    if (!table.check(op, entry, sink))
      continue;
    json key = entry.json;
    key.erase("point");
    if (!keys.insert(key).second)
      sink.error(entry.range, "this entry of a tuned table is for the same variants as an earlier one",
                 "leave one of them");
    table.entries.push_back(std::move(entry));
  }
  return table;
}

bool TunedTable::apply(const sem::OpModel &op, VariantSlot &slot, DiagnosticSink &sink) const {
  const sem::Specialization &any = slot.candidates.front();
  const Entry *found = nullptr;
  for (bool exactly : {true, false})
    for (const Entry &entry : entries)
      if (!found && speaksOf(op, entry.json, any, exactly))
        found = &entry;
  if (!found)
    return false;
  for (const sem::Specialization &point : slot.candidates)
    if (json(pointJson(op, point)) == found->json["point"]) {
      slot.candidates = {sem::Specialization(point)};
      return true;
    }
  sink.error(found->range,
             "the tuned point " + found->json["point"].dump() + " is not in the space of `tune " +
                 op.kernels[size_t(any.kernel)].name + "` any more",
             "retune: `tilegymc tune " + op.name + "`, or remove this entry to go by the cost model");
  return false;
}

} // namespace tilegym::driver
