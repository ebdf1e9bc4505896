// SPDX-License-Identifier: MIT
// Matrix products. A target multiplies matrices, so equal leading axes are taken apart.
#include "compiler/lowering/Lowerer.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;

static tile::Precision precisionOf(sem::Precision precision) {
  switch (precision) {
  case sem::Precision::Tf32:
    return tile::Precision::TF32;
  case sem::Precision::Tf32x3:
    return tile::Precision::TF32x3;
  case sem::Precision::Fast:
    return tile::Precision::Fast;
  default:
    return tile::Precision::Full;
  }
}

Value Lowerer::product(const sem::Expr &e) {
  Value a = operand(e, 0), b = operand(e, 1), sum = operand(e, 2);
  tile::Precision precision = precisionOf(e.precision);
  auto type = cast<RankedTensorType>(sum.getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t batches = ShapedType::getNumElements(shape.drop_back(2));
  if (shape.size() == 2)
    return create<tile::DotOp>(type, a, b, sum, /*rest=*/Value(), precision);

  // Matrix `i` of an operand: [batches, rows, columns] has it as one piece.
  auto matrix = [&](Value x, int64_t i) {
    ArrayRef<int64_t> own = cast<RankedTensorType>(x.getType()).getShape().take_back(2);
    Value flat = reshapeTo(x, {batches, own[0], own[1]});
    auto piece = RankedTensorType::get({1, own[0], own[1]}, getElementTypeOrSelf(x.getType()));
    return reshapeTo(create<tile::ExtractOp>(piece, flat, builder.getDenseI64ArrayAttr({i, 0, 0})), own);
  };
  SmallVector<Value> products;
  for (int64_t i = 0; i < batches; ++i) {
    Value c = matrix(sum, i);
    Value product =
        create<tile::DotOp>(c.getType(), matrix(a, i), matrix(b, i), c, /*rest=*/Value(), precision);
    products.push_back(reshapeTo(product, {1, shape[shape.size() - 2], shape.back()}));
  }
  auto flat = RankedTensorType::get({batches, shape[shape.size() - 2], shape.back()}, type.getElementType());
  Value all = batches == 1 ? products[0] : create<tile::CatOp>(flat, 0, products);
  return reshapeTo(all, shape);
}
