// SPDX-License-Identifier: MIT
// interface.json: what a binding for another language must know of a package, and no more, so that it is read in no time: arguments with their defaults,
// shapes as written, the names that `serves` gives them elsewhere, whose gradient an op is, and what it is to a vendor's library. Python's package is made from it.
#include "compiler/emit/Package.h"
#include "compiler/emit/VendorProduct.h"
#include "compiler/semantics/Analyze.h"
#include "compiler/syntax/Printer.h"
#include "tilegym/format/Checksum.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tilegym::emit {
namespace {

using json = nlohmann::ordered_json;
using Use = ast::ServesArg::Use;

json valueOf(const sem::Constant &c, const std::vector<std::string> &enumerators) {
  if (!enumerators.empty())
    return enumerators[size_t(c.asInt())];
  if (c.isBool())
    return c.asBool();
  if (c.isInt())
    return c.asInt();
  double value = c.asFloat();
  if (double(float(value)) == value) { // 1e-6, not the f32 nearest to it in a double's digits
    char text[32];
    *std::to_chars(text, text + sizeof text - 1, float(value)).ptr = 0;
    value = std::strtod(text, nullptr);
  }
  // JSON has no infinities: Python's float() reads these.
  return std::isfinite(value) ? json(value) : json(std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

class OpWriter {
public:
  explicit OpWriter(const sem::OpModel &op) : op(op), decl(*op.spec->op) {}

  json run() {
    json j;
    j["name"] = op.name;
    j["doc"] = op.doc;
    j["dtypes"] = json::object();
    for (const sem::TypeVar &v : op.typeVars)
      if (!v.name.empty())
        for (DType dtype : v.choices)
          j["dtypes"][v.name].push_back(std::string(name(dtype)));
    for (const sem::Argument &a : op.arguments)
      j["arguments"].push_back(a.isTensor ? tensor(op.tensors[a.id]) : scalar(op.scalars[a.id]));
    j["serves"] = json::array();
    for (const ast::Serves &served : decl.serves)
      j["serves"].push_back(serves(served));
    if (decl.gradientOf)
      j["gradient_of"] = gradient(*decl.gradientOf);
    if (std::optional<VendorProduct> p = vendorProduct(op)) // the fields of TilegymProduct
      j["product"] = {p->a, p->b, p->bias, p->c, int(p->turnA), int(p->turnB), p->plain, p->plainValue};
    return j;
  }

private:
  const sem::OpModel &op;
  const ast::OpDecl &decl;

  std::string dtypeOf(int64_t var) const {
    const sem::TypeVar &v = op.typeVars[var];
    return v.name.empty() ? std::string(name(v.choices.front())) : v.name;
  }

  const ast::TensorType &typeOf(const std::string &tensor) const {
    for (const ast::Param &p : decl.params)
      if (p.name.name == tensor)
        return p.type;
    for (const ast::Param &p : decl.results)
      if (p.name.name == tensor)
        return p.type;
    llvm_unreachable("every tensor of the model is declared");
  }

  json tensor(const sem::TensorParam &t) const {
    json j = {{"name", t.name},
              {"kind", t.isList ? "list" : "tensor"},
              {"dtype", dtypeOf(t.typeVar)},
              {"role", t.role == sem::Role::Input    ? "input"
                       : t.role == sem::Role::Output ? "output"
                                                     : "inout"},
              {"optional", t.optional},
              {"shape", json::array()}};
    for (const ast::DimSpec &dim : typeOf(t.name).dims)
      j["shape"].push_back((dim.leading ? "*" : "") + printExpr(*dim.expr) + (dim.perElement ? "[]" : "") +
                           (dim.orOne ? "|1" : ""));
    if (t.aliasOf >= 0)
      j["alias"] = op.tensors[t.aliasOf].name;
    return j;
  }

  json scalar(const sem::ScalarParam &s) const {
    json j = {{"name", s.name}, {"kind", s.isConst ? "const" : "scalar"}, {"dtype", dtypeOf(s.typeVar)}};
    if (!s.enumerators.empty())
      j["enumerators"] = s.enumerators;
    if (s.defaultValue)
      j["default"] = valueOf(*s.defaultValue, s.enumerators);
    return j;
  }

  json defaultOf(const ast::ServesArg &arg) const {
    if (const auto *flag = ast::dynCast<ast::BoolLiteral>(arg.defaultValue.get()))
      return flag->value;
    int64_t scalar = arg.use == Use::Argument ? op.findScalar(arg.target.name) : -1;
    DiagnosticSink sink; // what it could say, the check of the spec has said
    if (scalar >= 0)
      if (std::optional<sem::Constant> c =
              sem::scalarLiteral(*arg.defaultValue, op, op.scalars[scalar], sink))
        return valueOf(*c, op.scalars[scalar].enumerators);
    return nullptr;
  }

  json serves(const ast::Serves &served) const {
    static const char *const uses[] = {"argument", "ignored", "none", "transposes", "in_place"};
    json j = {{"name", served.name}, {"arguments", json::array()}};
    for (const ast::ServesArg &arg : served.args) {
      json a = {{"name", arg.name.name}, {"use", uses[int(arg.use)]}};
      if (arg.use != Use::Ignored && arg.use != Use::Refused && !arg.target.name.empty())
        a["of"] = arg.target.name;
      if (arg.defaultValue)
        a["default"] = defaultOf(arg);
      j["arguments"].push_back(std::move(a));
    }
    for (const ast::BoundName &result : served.results)
      j["results"].push_back(result.name.empty() ? json() : json(result.name));
    if (!served.results.empty())
      j["tuple"] = served.resultsParenthesised;
    return j;
  }

  static json gradient(const ast::GradientOf &of) {
    json j = {{"op", of.op.name}, {"outputs", json::object()}, {"inputs", json::object()}};
    for (const ast::NamePair &pair : of.outputs)
      j["outputs"][pair.from.name] = pair.to.name;
    for (const ast::NamePair &pair : of.inputs)
      j["inputs"][pair.from.name] = pair.to.name;
    return j;
  }
};

} // namespace

std::string writeInterface(const Package &package, llvm::StringRef table) {
  json j;
  j["package"] = package.name;
  std::string hash;
  llvm::raw_string_ostream(hash) << llvm::format_hex_no_prefix(format::checksum64(table.data(), table.size()),
                                                               16);
  j["hash"] = hash;
  j["ops"] = json::array();
  for (const PackageOp &op : package.ops)
    j["ops"].push_back(OpWriter(*op.model).run());
  return j.dump(1) + "\n";
}

} // namespace tilegym::emit
