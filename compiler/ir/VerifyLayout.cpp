// SPDX-License-Identifier: MIT
// The layout attribute's text form and its fit to the tile; layout conversion.
#include "compiler/ir/Tile.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tilegym::tile;

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::string text;
  SMLoc loc;
  if (parser.parseLess() || parser.getCurrentLocation(&loc) || parser.parseString(&text) ||
      parser.parseGreater())
    return {};
  auto layout = layout::Layout::parse(text);
  if (!layout)
    return parser.emitError(loc, layout.error()), Attribute();
  return get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const { printer << "<\"" << getLayout().str() << "\">"; }

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  if (!llvm::equal(getLayout().shape(), shape))
    return emitError() << "the layout is of a tile of shape [" << getLayout().shape() << "], the tile's is ["
                       << shape << "]";
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getValue().getType() == getType())
    return getValue();
  // a -> b -> c is a -> c: a tile has one value whatever layouts it passes through.
  if (auto inner = getValue().getDefiningOp<ConvertLayoutOp>()) {
    getValueMutable().assign(inner.getValue());
    return getResult();
  }
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getValue()))
    return SplatElementsAttr::get(getType(), splat.getSplatValue<Attribute>());
  return {};
}

LogicalResult ConvertLayoutOp::verify() {
  for (RankedTensorType type : {getValue().getType(), getType()})
    if (type.getEncoding() && !isa<LayoutAttr>(type.getEncoding()))
      return emitOpError("encoding ") << type.getEncoding() << " is no layout";
  return success();
}
