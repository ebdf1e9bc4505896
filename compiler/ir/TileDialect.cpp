// SPDX-License-Identifier: MIT
// Registers the dialect; text forms of its attributes.
#include "compiler/ir/RegionFormat.h"
#include "compiler/ir/TensorCopy.h"
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilegym::tile;

#include "compiler/ir/TileDialect.cpp.inc"
#include "compiler/ir/TileEnums.cpp.inc"
#include "compiler/ir/TileInterfaces.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/ir/TileTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "compiler/ir/TileAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "compiler/ir/TileOps.cpp.inc"

namespace {
/// Layouts are long and few: the printer names them `#layout`, `#layout1`.
struct TileAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  addInterfaces<TileAsmInterface>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "compiler/ir/TileTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "compiler/ir/TileAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/TileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "compiler/ir/TensorCopyOps.cpp.inc"
      >();
}

// `<kind id[:axis], "name", type[, divisor = d][, upper = u][, readonly][, list = n]>`
Attribute ParamAttr::parse(AsmParser &parser, Type) {
  StringRef kindName;
  std::string name;
  int64_t id = 0, axis = 0, divisor = 1, upper = -1, list = 0;
  bool readonly = false;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&kindName) || parser.parseInteger(id))
    return {};
  std::optional<ParamKind> kind = symbolizeParamKind(kindName);
  if (!kind)
    return parser.emitError(loc, "'") << kindName << "' is no kind of parameter", Attribute();
  if (succeeded(parser.parseOptionalColon()) && parser.parseInteger(axis))
    return {};
  if (parser.parseComma() || parser.parseString(&name) || parser.parseComma() || parser.parseType(type))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("readonly"))) {
      readonly = true;
    } else if (succeeded(parser.parseOptionalKeyword("divisor"))) {
      if (parser.parseEqual() || parser.parseInteger(divisor))
        return {};
    } else if (succeeded(parser.parseOptionalKeyword("list"))) {
      if (parser.parseEqual() || parser.parseInteger(list))
        return {};
    } else if (parser.parseKeyword("upper") || parser.parseEqual() || parser.parseInteger(upper)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), *kind, id, axis, StringAttr::get(parser.getContext(), name), type, divisor,
             upper, readonly, list);
}

void ParamAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyParamKind(getKind()) << ' ' << getId();
  if (getAxis())
    printer << ':' << getAxis();
  printer << ", " << getName() << ", " << getType();
  if (getDivisor() != 1)
    printer << ", divisor = " << getDivisor();
  if (getUpper() != -1)
    printer << ", upper = " << getUpper();
  printer << (getReadonly() ? ", readonly" : "");
  if (getList())
    printer << ", list = " << getList();
  printer << '>';
}

// `<flag, ...>`
Attribute MathAttr::parse(AsmParser &parser, Type) {
  bool approx = false, ftz = false, contract = false;
  auto flag = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    StringRef word;
    if (parser.parseKeyword(&word))
      return failure();
    bool *known = llvm::StringSwitch<bool *>(word)
                      .Case("approx", &approx)
                      .Case("ftz", &ftz)
                      .Case("contract", &contract)
                      .Default(nullptr);
    if (!known)
      return parser.emitError(loc, "expected 'approx', 'ftz' or 'contract', found '") << word << "'";
    *known = true;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, flag))
    return {};
  return get(parser.getContext(), approx, ftz, contract);
}

void MathAttr::print(AsmPrinter &printer) const {
  SmallVector<StringRef> words;
  if (getApprox())
    words.push_back("approx");
  if (getFtz())
    words.push_back("ftz");
  if (getContract())
    words.push_back("contract");
  printer << '<';
  llvm::interleaveComma(words, printer);
  printer << '>';
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
