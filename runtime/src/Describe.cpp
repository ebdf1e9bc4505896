// SPDX-License-Identifier: MIT
// Introspection: what this process has, and what a package has, as text and as JSON. One walk gives both: a list of named values, which JSON writes as it is
// and the text as indented lines.
#include "Driver.h"
#include "PackageHandle.h"
#include <bit>
#include <cstdio>
#include <map>

using namespace tilegym::runtime;
namespace format = tilegym::format;

namespace {

/// A value of JSON. Objects keep their order.
struct Value {
  enum Kind { Literal, String, List, Object } kind = Literal;
  std::string text = "null"; ///< of literals and strings
  std::vector<Value> members;
  std::vector<std::string> names; ///< of an object's members

  static Value of(std::string_view text) { return {String, std::string(text), {}, {}}; }
  static Value of(const char *text) { return of(std::string_view(text)); }
  static Value of(int64_t number) { return {Literal, std::to_string(number), {}, {}}; }
  static Value truth(bool value) { return {Literal, value ? "true" : "false", {}, {}}; }
  static Value list() { return {List, "", {}, {}}; }
  static Value object() { return {Object, "", {}, {}}; }
  template <class Texts> static Value texts(const Texts &all) {
    Value v = list();
    for (const auto &one : all)
      v.add(of(std::string_view(one)));
    return v;
  }
  void add(Value value) { members.push_back(std::move(value)); }
  void set(std::string name, Value value) {
    names.push_back(std::move(name));
    add(std::move(value));
  }
};

void writeString(std::string_view text, std::string &out) {
  out += '"';
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", c);
      out += code;
    } else {
      out += c;
    }
  }
  out += '"';
}

void writeJson(const Value &v, std::string &out) {
  if (v.kind == Value::Literal)
    out += v.text;
  else if (v.kind == Value::String)
    writeString(v.text, out);
  else {
    out += v.kind == Value::List ? '[' : '{';
    for (size_t i = 0; i < v.members.size(); ++i) {
      out += i ? "," : "";
      if (v.kind == Value::Object) {
        writeString(v.names[i], out);
        out += ':';
      }
      writeJson(v.members[i], out);
    }
    out += v.kind == Value::List ? ']' : '}';
  }
}

bool isLeaf(const Value &v) { return v.kind == Value::Literal || v.kind == Value::String; }

/// Lists of leaves on one line; what is null, false or empty is left out.
void writeText(const Value &v, int depth, std::string &out) {
  for (size_t i = 0; i < v.members.size(); ++i) {
    const Value &value = v.members[i];
    bool isNothing = isLeaf(value) ? value.text == "null" || value.text == "false" || value.text.empty()
                                   : value.members.empty();
    if (isNothing)
      continue;
    bool hasName = v.kind == Value::Object,
         isLine = isLeaf(value) || (value.kind == Value::List && isLeaf(value.members[0]));
    if (hasName)
      out += std::string(size_t(depth) * 2, ' ') + v.names[i] + (isLine ? ": " : ":\n");
    if (!isLine) {
      writeText(value, hasName ? depth + 1 : depth, out);
      continue;
    }
    if (isLeaf(value)) // a doc has lines
      for (char c : value.text)
        out += c == '\n' ? "\n" + std::string(size_t(depth) * 2 + 4, ' ') : std::string(1, c);
    for (size_t k = 0; k < value.members.size(); ++k)
      out += (k ? ", " : "") + value.members[k].text;
    out += "\n";
  }
}

class Describer {
public:
  explicit Describer(TilegymPackage &package) : package(package), table(package.table) {}

  Value run() {
    Value v = Value::object();
    v.set("name", Value::of(table.text(table.header().name)));
    v.set("format", Value::of(int64_t(table.header().version)));
    v.set("producer", Value::of(table.text(table.header().producer)));
    v.set("bytes", Value::of(int64_t(table.header().size)));
    Value ops = Value::list();
    for (size_t i = 0; i < package.opNames.size(); ++i)
      ops.add(op(i));
    v.set("ops", std::move(ops));
    return v;
  }

private:
  Value op(size_t number) {
    const format::Op &op = table.ops()[number];
    Value v = Value::object();
    v.set("op", Value::of(package.opNames[number]));
    v.set("doc", Value::of(table.text(op.doc)));
    Value arguments = Value::list();
    for (const format::Argument &a : table.get<format::Argument>(op.arguments))
      arguments.add(a.isTensor ? tensor(op, table.get<format::Tensor>(op.tensors)[a.id])
                               : scalar(op, table.get<format::Scalar>(op.scalars)[a.id]));
    v.set("arguments", std::move(arguments));
    Value backends = Value::list();
    for (int32_t b = 0; const char *name = tilegym_backend_name(b); ++b)
      if (implements(package, number, b))
        backends.add(Value::of(name));
    v.set("backends", std::move(backends));
    v.set("variants", Value::of(int64_t(op.variants.count)));
    v.set("code", code(op));
    return v;
  }

  std::vector<const char *> dtypesOf(const format::Op &op, uint32_t typeVar) {
    std::vector<const char *> names;
    for (uint8_t d : table.get<uint8_t>(table.get<format::TypeVar>(op.typeVars)[typeVar].choices))
      names.push_back(dtypeName(d));
    return names;
  }

  Value tensor(const format::Op &op, const format::Tensor &t) {
    static const char *const kinds[] = {"input", "output", "updated"};
    Value v = Value::object();
    v.set("name", Value::of(table.text(t.name)));
    v.set("kind", Value::of(kinds[uint32_t(t.role)]));
    v.set("dtypes", Value::texts(dtypesOf(op, t.typeVar)));
    Value dims = Value::list();
    for (const format::DimUse &use : table.get<format::DimUse>(t.dims)) {
      std::string name = use.dim == format::kNone
                             ? "computed"
                             : std::string(table.text(table.get<format::Dim>(op.dims)[use.dim].name));
      dims.add(Value::of((use.isGroup ? "*" : "") + name + (use.orOne ? "|1" : "")));
    }
    v.set("dims", std::move(dims));
    v.set("optional", Value::truth(t.optional));
    if (t.isList)
      v.set("list", Value::truth(true));
    return v;
  }

  Value scalar(const format::Op &op, const format::Scalar &s) {
    std::vector<const char *> dtypes = dtypesOf(op, s.typeVar);
    std::vector<std::string> names;
    for (format::Slice name : table.get<format::Slice>(s.enumerators))
      names.emplace_back(table.text(name));
    Value v = Value::object();
    v.set("name", Value::of(table.text(s.name)));
    v.set("kind", Value::of(s.isConst ? "const" : "scalar"));
    v.set("dtypes", Value::texts(dtypes));
    Value choices = names.empty() ? Value::list() : Value::texts(names);
    for (int64_t choice : table.get<int64_t>(s.choices))
      if (names.empty())
        choices.add(Value::of(choice));
    v.set("choices", std::move(choices));
    if (s.hasDefault)
      v.set("default", defaultOf(s, names, dtypes));
    return v;
  }

  static Value defaultOf(const format::Scalar &s, const std::vector<std::string> &names,
                         const std::vector<const char *> &dtypes) {
    if (size_t(s.defaultBits) < names.size())
      return Value::of(names[size_t(s.defaultBits)]);
    if (s.isConst || dtypes[0][0] == 'i' || dtypes[0][0] == 'u' || dtypes[0] == std::string_view("bool"))
      return Value::of(s.defaultBits);
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.17g", std::bit_cast<double>(s.defaultBits));
    std::string_view text(digits);
    return text.find_first_not_of("0123456789+-.e") == text.npos ? Value{Value::Literal, digits, {}, {}}
                                                                 : Value::of(text); // JSON has no infinity
  }

  /// Which dtypes have code for which architectures: holes show.
  Value code(const format::Op &op) {
    std::map<std::vector<uint8_t>, std::vector<format::Variant>> byDTypes;
    for (const format::Variant &variant : table.get<format::Variant>(op.variants)) {
      std::span<const uint8_t> dtypes = table.get<uint8_t>(variant.dtypes);
      byDTypes[{dtypes.begin(), dtypes.end()}].push_back(variant);
    }
    Value v = Value::list();
    for (const auto &[dtypes, variants] : byDTypes) {
      Value one = Value::object();
      Value named = Value::object();
      for (size_t i = 0; i < dtypes.size(); ++i)
        if (std::string_view name = table.text(table.get<format::TypeVar>(op.typeVars)[i].name);
            !name.empty())
          named.set(std::string(name), Value::of(dtypeName(dtypes[i])));
      one.set("dtypes", std::move(named));
      one.set("archs", Value::texts(archNames(table, variants)));
      v.add(std::move(one));
    }
    return v;
  }

  TilegymPackage &package;
  const Table &table;
};

/// Makes no context.
Value devices(const Driver &driver) {
  Value v = Value::list();
  int count = 0;
  driver.deviceGetCount(&count);
  for (CUdevice d = 0; d < count; ++d) {
    char name[128] = "";
    int major = 0, minor = 0;
    driver.deviceGetName(name, sizeof name, d);
    driver.deviceGetAttribute(&major, kAttributeComputeMajor, d);
    driver.deviceGetAttribute(&minor, kAttributeComputeMinor, d);
    Value one = Value::object();
    one.set("device", Value::of(name));
    one.set("arch", Value::of("sm_" + std::to_string(major * 10 + minor)));
    v.add(std::move(one));
  }
  return v;
}

Value describe(TilegymPackage *package) {
  Value v = Value::object();
  v.set("tilegym", Value::of(TILEGYM_VERSION));
  v.set("abi", Value::of(int64_t(TILEGYM_ABI_VERSION)));
  v.set("reads_format", Value::of(int64_t(format::kVersion)));
  const Driver *driver = nullptr;
  if (getDriver(&driver) == TILEGYM_OK) {
    v.set("driver", Value::of("CUDA " + std::to_string(driver->version / 1000) + "." +
                              std::to_string(driver->version % 1000 / 10)));
    v.set("devices", devices(*driver));
  } else {
    v.set("driver", Value());
    v.set("no_driver", Value::of(lastError()));
  }
  v.set("backend", Value::of(tilegym_backend_name(chosenBackend())));
  Value backends = Value::list(), added = Value::list();
  for (int32_t b = 0; const char *name = tilegym_backend_name(b); ++b)
    if (b != TILEGYM_BACKEND_REFERENCE || referenceBackend())
      backends.add(Value::of(name));
  v.set("backends", std::move(backends));
  for (const Implementation *i : registered()) {
    Value one = Value::object();
    one.set("op", Value::of(i->op));
    one.set("backend", Value::of(tilegym_backend_name(i->backend)));
    added.add(std::move(one));
  }
  v.set("registered", std::move(added));
  if (package)
    v.set("package", Describer(*package).run());
  return v;
}

} // namespace

extern "C" TilegymStatus tilegym_describe(TilegymPackage *package, int32_t form, const char **text) {
  if (!text || (form != TILEGYM_TEXT && form != TILEGYM_JSON))
    return fail(TILEGYM_INVALID_ARGUMENT, "the address for the text is null, or %d is no form of it",
                int(form));
  return guarded([&] {
    static thread_local std::string answer;
    std::string out;
    Value v = describe(package);
    form == TILEGYM_JSON ? writeJson(v, out) : writeText(v, 0, out);
    answer = std::move(out);
    *text = answer.c_str();
    return TILEGYM_OK;
  });
}
