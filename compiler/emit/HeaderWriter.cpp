// SPDX-License-Identifier: MIT
// The header of a package: the C functions, and for C++ a typed function an op with defaults, whose doc comment is the spec's.
#include "compiler/emit/Package.h"
#include "compiler/emit/Signature.h"
#include "compiler/emit/VendorProduct.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

namespace tilegym::emit {
namespace {

const char *cType(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return "double";
  case DType::F32:
    return "float";
  case DType::I8:
    return "int8_t";
  case DType::I16:
    return "int16_t";
  case DType::I32:
    return "int32_t";
  case DType::U8:
  case DType::Bool:
    return "uint8_t";
  case DType::U16:
    return "uint16_t";
  case DType::U32:
    return "uint32_t";
  case DType::U64:
    return "uint64_t";
  default:
    return "int64_t";
  }
}

/// C++ keywords, and names that the generated code uses, get an underscore.
std::string identifier(const std::string &name) {
  static const char *const reserved[] = {"alignas",
                                         "alignof",
                                         "and",
                                         "and_eq",
                                         "arguments",
                                         "asm",
                                         "auto",
                                         "bitand",
                                         "bitor",
                                         "bool",
                                         "break",
                                         "case",
                                         "catch",
                                         "char",
                                         "char16_t",
                                         "char32_t",
                                         "char8_t",
                                         "class",
                                         "co_await",
                                         "co_return",
                                         "co_yield",
                                         "compl",
                                         "concept",
                                         "const",
                                         "const_cast",
                                         "consteval",
                                         "constexpr",
                                         "constinit",
                                         "continue",
                                         "decltype",
                                         "default",
                                         "delete",
                                         "do",
                                         "double",
                                         "dynamic_cast",
                                         "else",
                                         "enum",
                                         "explicit",
                                         "export",
                                         "extern",
                                         "false",
                                         "float",
                                         "for",
                                         "friend",
                                         "goto",
                                         "if",
                                         "inline",
                                         "int",
                                         "long",
                                         "mutable",
                                         "namespace",
                                         "new",
                                         "noexcept",
                                         "not",
                                         "not_eq",
                                         "nullptr",
                                         "operator",
                                         "or",
                                         "or_eq",
                                         "package",
                                         "private",
                                         "protected",
                                         "public",
                                         "register",
                                         "requires",
                                         "restrict",
                                         "result",
                                         "return",
                                         "short",
                                         "signed",
                                         "sizeof",
                                         "static",
                                         "static_assert",
                                         "static_cast",
                                         "status",
                                         "stream",
                                         "struct",
                                         "switch",
                                         "template",
                                         "this",
                                         "thread_local",
                                         "throw",
                                         "tilegym",
                                         "true",
                                         "try",
                                         "typedef",
                                         "typeid",
                                         "typename",
                                         "union",
                                         "unsigned",
                                         "using",
                                         "virtual",
                                         "void",
                                         "volatile",
                                         "wchar_t",
                                         "while",
                                         "xor",
                                         "xor_eq",
                                         "reinterpret_cast"};
  return llvm::is_contained(reserved, name) ? name + "_" : name;
}

std::string tensorType(const sem::OpModel &op, const sem::TensorParam &t) {
  const sem::TypeVar &v = op.typeVars[t.typeVar];
  std::string text = v.name.empty() ? std::string(name(v.choices.front())) : v.name;
  text += "[";
  for (auto [i, use] : llvm::enumerate(t.dims)) {
    text += i ? ", " : "";
    text += use.isGroup ? "*" : "";
    text += use.dim >= 0 ? op.dims[use.dim].name : "...";
    text += use.dim >= 0 && op.dims[use.dim].perElement ? "[]" : "";
    text += use.orOne ? "|1" : "";
  }
  return text + "]" + (t.optional ? "?" : "");
}

/// A line of a spec's doc that cannot end the comment it stands in, nor go on into the next line.
std::string plainComment(std::string line) {
  for (size_t at = 0; (at = line.find("*/", at)) != std::string::npos;)
    line.insert(at + 1, " ");
  return llvm::StringRef(line).rtrim("\\ \t").str();
}

class HeaderBuilder {
public:
  explicit HeaderBuilder(const Package &package) : package(package) {}

  std::string run() {
    out = "// Generated by tilegymc from the specs of package " + package.name + ". Link " + package.name +
          ".o and TileGym's runtime.\n#pragma once\n" +
          "#include <tilegym/tilegym.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n" +
          "/* The package, for tilegym_prepare and the rest of the interface. */\n" + "TilegymStatus " +
          package.name + "_package(TilegymPackage **package);\n";
    for (auto [number, op] : llvm::enumerate(package.ops))
      declareC(number, *op.model);
    addVendor();
    out += "\n#ifdef __cplusplus\n} // extern \"C\"\n\n#include <tilegym/tilegym.hpp>\n\nnamespace " +
           package.name + " {\n";
    for (const PackageOp &op : package.ops) {
      defineCpp(*op.model);
      if (allocates(*op.model))
        defineAllocating(*op.model);
    }
    out += "\n} // namespace " + package.name + "\n#endif\n";
    return std::move(out);
  }

private:
  std::string cDeclaration(const CArgument &a) {
    std::string n = identifier(a.name);
    switch (a.kind) {
    case CArgument::Tensor:
      return "const TilegymTensor *" + n;
    case CArgument::Scalar:
      return std::string(cType(a.dtype)) + " " + n;
    case CArgument::Pointer:
      return "const void *" + n;
    case CArgument::Const:
      return "int64_t " + n;
    case CArgument::List:
      return "const TilegymTensorList *" + n;
    }
    return n;
  }

  void comment(const sem::OpModel &op, const char *open, const char *middle, const char *close) {
    out += "\n";
    out += open;
    for (const std::string &line : op.doc)
      out += " " + plainComment(line) + "\n" + middle;
    for (auto [i, t] : llvm::enumerate(op.tensors))
      out += std::string(i ? "\n" : "") + (i ? middle : "") + " " + (t.isList ? "list " : "") + t.name +
             ": " + tensorType(op, t) +
             (t.role == sem::Role::Input    ? ""
              : t.role == sem::Role::Output ? ", written"
                                            : ", updated");
    for (const sem::ScalarParam &s : op.scalars)
      if (!s.enumerators.empty()) {
        out += std::string("\n") + middle + " " + s.name + ":";
        for (auto [i, e] : llvm::enumerate(s.enumerators))
          out += (i ? ", " : " ") + e + " = " + std::to_string(i);
      }
    out += close;
  }

  void declareC(size_t number, const sem::OpModel &op) {
    comment(op, "/*", " *", " */\n");
    out += "#define " + package.name + "_OP_" + op.name + " " + std::to_string(number) + "\n";
    out += "TilegymStatus " + package.name + "_" + op.name + "(";
    for (const CArgument &a : signatureOf(op))
      out += cDeclaration(a) + ", ";
    out += "void *stream);\n";
  }

  /// Of the ops that a vendor's library has: they go to it once the program says so.
  void addVendor() {
    std::string products;
    for (const PackageOp &op : package.ops) {
      std::optional<VendorProduct> p = vendorProduct(*op.model);
      if (!p)
        continue;
      auto number = [](int argument) { return std::to_string(argument) + ", "; };
      products += (products.empty() ? "" : ",\n      ") + ("{\"" + op.model->name) + "\", " + number(p->a) +
                  number(p->b) + number(p->bias) + number(p->c) + std::to_string(p->turnA) + ", " +
                  std::to_string(p->turnB) + ", " + number(p->plain) + std::to_string(p->plainValue) + "}";
    }
    if (products.empty())
      return;
    out += "\n/* Registers cuBLASLt as the backend `vendor` of the ops that are a product of matrices. "
           "*/\n#include "
           "<tilegym/vendor.h>\nstatic inline TilegymStatus " +
           package.name + "_add_vendor(void) {\n  static const TilegymProduct products[] = {\n      " +
           products + "};\n  return tilegym_add_vendor(products, sizeof products / sizeof *products);\n}\n";
  }

  std::string defaultOf(const sem::ScalarParam &s, const CArgument &a) {
    if (!s.defaultValue)
      return "";
    if (a.kind == CArgument::Pointer)
      return " = nullptr";
    if (s.defaultValue->isFloat() && !std::isfinite(s.defaultValue->asFloat())) {
      double value = s.defaultValue->asFloat();
      std::string limit = std::isnan(value) ? "quiet_NaN()" : "infinity()";
      return std::string(value < 0 ? " = -" : " = ") + "std::numeric_limits<double>::" + limit;
    }
    if (s.defaultValue->isFloat()) {
      llvm::SmallString<32> digits;
      llvm::APFloat(s.defaultValue->asFloat()).toString(digits, 0, 0);
      return " = " + std::string(digits);
    }
    return " = " + std::to_string(s.defaultValue->asInt());
  }

  /// Tensors first (inputs, then outputs), then what has a default: optional tensors, scalars, the stream.
  void defineCpp(const sem::OpModel &op) {
    comment(op, "///", "///", "\n");
    std::vector<CArgument> arguments = signatureOf(op);
    std::vector<std::string> required, defaulted, passed;
    for (const CArgument &a : arguments) {
      std::string n = identifier(a.name);
      if (a.kind == CArgument::List) {
        required.push_back("const tilegym::TensorList &" + n);
        passed.push_back(n + ".c()");
        continue;
      }
      if (a.kind == CArgument::Tensor) {
        (a.optional ? defaulted : required)
            .push_back(a.optional ? "const tilegym::TensorView &" + n + " = {}"
                                  : "const tilegym::TensorView &" + n);
        passed.push_back(n + ".c()");
        continue;
      }
      std::string value = defaultOf(op.scalars[a.id], a);
      (value.empty() ? required : defaulted).push_back(cDeclaration(a) + value);
      passed.push_back(n);
    }
    defaulted.push_back("void *stream = nullptr");
    required.insert(required.end(), defaulted.begin(), defaulted.end());
    out += "inline tilegym::Status " + identifier(op.name) + "(" + llvm::join(required, ", ") + ") {\n";
    passed.push_back("stream");
    out += "  return tilegym::Status(" + package.name + "_" + op.name + "(" + llvm::join(passed, ", ") +
           "));\n}\n";
  }

  /// Outputs can be made where their dtypes follow from the other arguments.
  static bool allocates(const sem::OpModel &op) {
    bool any = false;
    for (const sem::TensorParam &t : op.tensors) {
      any |= t.role == sem::Role::Output;
      if ((t.role == sem::Role::Output && op.typeVars[t.typeVar].isArgument) || t.isList)
        return false;
    }
    return any;
  }

  /// `auto [status, y] = softmax(tilegym::allocate, x)`: the same arguments without the outputs, which come back with the status. (Without the tag,
  /// an optional input could be taken for an output.) An optional output is made
  /// where it is wanted.
  void defineAllocating(const sem::OpModel &op) {
    std::string result = op.name + "_result", name = identifier(op.name);
    std::vector<std::string> required = {"tilegym::Allocate"}, defaulted, places, passed;
    std::string members, makes;
    for (auto [number, a] : llvm::enumerate(signatureOf(op))) {
      std::string n = identifier(a.name);
      bool isOutput = a.kind == CArgument::Tensor && op.tensors[a.id].role == sem::Role::Output;
      if (isOutput) {
        members += "  tilegym::Tensor " + n + ";\n";
        if (a.optional)
          defaulted.push_back("tilegym::Want " + n + " = tilegym::Want::No");
        makes += "  if (result.status" +
                 (a.optional ? " && " + n + " == tilegym::Want::Yes" : std::string()) +
                 ")\n    result.status = tilegym::detail::allocateOutput(package, " + package.name + "_OP_" +
                 op.name + ", arguments, " + std::to_string(number) + ", stream, result." + n + ");\n";
        places.push_back("nullptr");
        passed.push_back("result." + n + ".c()");
      } else if (a.kind == CArgument::Tensor) {
        (a.optional ? defaulted : required)
            .push_back("const tilegym::TensorView &" + n + (a.optional ? " = {}" : ""));
        places.push_back(n + ".c()");
        passed.push_back(n + ".c()");
      } else {
        std::string value = defaultOf(op.scalars[a.id], a);
        (value.empty() ? required : defaulted).push_back(cDeclaration(a) + value);
        places.push_back(a.kind == CArgument::Pointer ? n : "&" + n);
        passed.push_back(n);
      }
    }
    defaulted.push_back("void *stream = nullptr");
    required.insert(required.end(), defaulted.begin(), defaulted.end());
    passed.push_back("stream");
    out += "\n/// What " + name + " gives where it allocates its outputs, in the stream's order.\nstruct " +
           result + " {\n  tilegym::Status status;\n" + members + "};\ninline " + result + " " + name + "(" +
           llvm::join(required, ", ") + ") {\n  " + result +
           " result;\n  TilegymPackage *package = nullptr;\n" + "  result.status = tilegym::Status(" +
           package.name + "_package(&package));\n" + "  const void *arguments[] = {" +
           llvm::join(places, ", ") + "};\n" + makes +
           "  if (result.status)\n    result.status = tilegym::Status(" + package.name + "_" + op.name + "(" +
           llvm::join(passed, ", ") + "));\n  return result;\n}\n";
  }

  const Package &package;
  std::string out;
};

} // namespace

std::vector<CArgument> signatureOf(const sem::OpModel &op) {
  std::vector<CArgument> arguments;
  for (const sem::Argument &argument : op.arguments) {
    CArgument a;
    a.id = argument.id;
    if (argument.isTensor) {
      a.name = op.tensors[argument.id].name;
      a.optional = op.tensors[argument.id].optional;
      a.kind = op.tensors[argument.id].isList ? CArgument::List : CArgument::Tensor;
    } else {
      const sem::ScalarParam &s = op.scalars[argument.id];
      const std::vector<DType> &choices = op.typeVars[s.typeVar].choices;
      a.name = s.name;
      a.dtype = choices.front();
      bool hasCType =
          choices.size() == 1 && (!isFloat(a.dtype) || a.dtype == DType::F64 || a.dtype == DType::F32);
      a.kind = s.isConst ? CArgument::Const : hasCType ? CArgument::Scalar : CArgument::Pointer;
    }
    arguments.push_back(std::move(a));
  }
  return arguments;
}

std::string writeHeader(const Package &package) { return HeaderBuilder(package).run(); }

} // namespace tilegym::emit
