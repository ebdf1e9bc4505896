// SPDX-License-Identifier: MIT
// `[point(%i) stride %s in(%lo, %hi), span(%o, 128) stride %s below(%lo, %hi)] group(%rank, extents..., strides...)`
#include "compiler/ir/RegionFormat.h"
#include "compiler/ir/Region.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilegym::tile;

/// By AxisCheck.
static constexpr StringRef checkWords[] = {"within", "from", "below", "in"};

ParseResult tilegym::tile::parseRegion(OpAsmParser &parser, DenseI32ArrayAttr &kinds,
                                       SmallVectorImpl<Unresolved> &indices,
                                       SmallVectorImpl<Type> &indexTypes, DenseI64ArrayAttr &lengths,
                                       SmallVectorImpl<Unresolved> &strides,
                                       SmallVectorImpl<Unresolved> &lowers,
                                       SmallVectorImpl<Unresolved> &uppers, DenseI32ArrayAttr &checks,
                                       SmallVectorImpl<Unresolved> &group) {
  SmallVector<int32_t> kindList, checkList;
  SmallVector<int64_t> lengthList;
  Builder builder(parser.getContext());
  auto axis = [&]() -> ParseResult {
    StringRef word;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    std::optional<AxisKind> kind = symbolizeAxisKind(word);
    if (!kind)
      return parser.emitError(loc, "expected 'point', 'span' or 'gather', found '") << word << "'";
    kindList.push_back(int32_t(*kind));
    Type type = builder.getI64Type();
    int64_t length = 0;
    if (parser.parseLParen() || parser.parseOperand(indices.emplace_back()))
      return failure();
    if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
      return failure();
    if (*kind == AxisKind::Span && (parser.parseComma() || parser.parseInteger(length)))
      return failure();
    indexTypes.push_back(type);
    lengthList.push_back(length);
    if (parser.parseRParen() || parser.parseKeyword("stride") || parser.parseOperand(strides.emplace_back()))
      return failure();
    loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&word))
      return failure();
    const auto *found = llvm::find(checkWords, word);
    if (found == std::end(checkWords))
      return parser.emitError(loc, "expected 'in', 'below', 'from' or 'within', found '") << word << "'";
    checkList.push_back(int32_t(found - std::begin(checkWords)));
    return failure(parser.parseLParen() || parser.parseOperand(lowers.emplace_back()) ||
                   parser.parseComma() || parser.parseOperand(uppers.emplace_back()) || parser.parseRParen());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, axis))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("group")) &&
      parser.parseOperandList(group, AsmParser::Delimiter::Paren))
    return failure();
  kinds = builder.getDenseI32ArrayAttr(kindList);
  lengths = builder.getDenseI64ArrayAttr(lengthList);
  checks = builder.getDenseI32ArrayAttr(checkList);
  return success();
}

void tilegym::tile::printRegion(OpAsmPrinter &printer, Operation *, DenseI32ArrayAttr kinds,
                                OperandRange indices, TypeRange indexTypes, DenseI64ArrayAttr lengths,
                                OperandRange strides, OperandRange lowers, OperandRange uppers,
                                DenseI32ArrayAttr checks, OperandRange group) {
  printer << '[';
  for (int64_t i = 0; i < kinds.size(); ++i) {
    AxisKind kind = AxisKind(kinds[i]);
    printer << (i ? ", " : "") << stringifyAxisKind(kind) << '(' << indices[i];
    if (!indexTypes[i].isInteger(64))
      printer << " : " << indexTypes[i];
    if (kind == AxisKind::Span)
      printer << ", " << lengths[i];
    printer << ") stride " << strides[i] << ' ' << checkWords[checks[i] & 3] << '(' << lowers[i] << ", "
            << uppers[i] << ')';
  }
  printer << ']';
  if (!group.empty())
    printer << " group(" << group << ')';
}
