// SPDX-License-Identifier: MIT
// Which facts a fast kernel asks for, and what follows from them for each parameter.
#include "compiler/lowering/KernelParams.h"
#include "compiler/semantics/ProductOperands.h"
#include <algorithm>
#include <set>

using namespace mlir;
using namespace tilegym;
using namespace tilegym::lowering;
using tile::ParamKind;

static constexpr int64_t vectorBytes = 16;
static constexpr int64_t int32Max = (int64_t(1) << 31) - 1;
/// No extent comes near this, and positions beyond one by a tile do not overflow.
static constexpr int64_t extentMax = int64_t(1) << 62;

DType KernelParams::elementOf(int64_t tensor) const { return spec.dtypes[op.tensors[tensor].typeVar]; }

bool KernelParams::isGroup(int64_t tensor, int64_t axis) const {
  return op.tensors[tensor].dims[axis].isGroup;
}

/// `dim // factor`, or nothing.
struct DimPart {
  int64_t dim = -1, factor = 1;
};
static DimPart partOf(const sem::DimUse &use) {
  const sem::Expr *e = use.expr.get();
  if (use.dim >= 0 || !e || e->op != sem::Op::FloorDiv || e->operands[0]->op != sem::Op::Dim ||
      e->operands[1]->op != sem::Op::Const)
    return {};
  return {e->operands[0]->index, e->operands[1]->constant.asInt()};
}

/// What a guard such as `P % 16 == 0` says of extents, whichever facts the kernel has: dispatch checks it.
static void addDivisors(const sem::Expr &guard, std::vector<int64_t> &divisors) {
  if (guard.op == sem::Op::And) {
    addDivisors(*guard.operands[0], divisors);
    addDivisors(*guard.operands[1], divisors);
    return;
  }
  const sem::Expr *rest = guard.op == sem::Op::Eq ? guard.operands[0].get() : nullptr;
  if (!rest || rest->op != sem::Op::Mod || rest->operands[0]->op != sem::Op::Dim ||
      rest->operands[1]->op != sem::Op::Const || guard.operands[1]->op != sem::Op::Const ||
      guard.operands[1]->constant.asInt() != 0)
    return;
  int64_t by = rest->operands[1]->constant.asInt();
  int64_t &divisor = divisors[rest->operands[0]->index];
  if (by > 0)
    divisor = std::max(divisor, by & -by);
}

/// Operands of a product that a producer feeds: the copy engine takes any extent of them, and gives zeros for what lies outside. Results are not among them: it
/// writes whole units of 16 bytes, also beyond the end of a row.
static uint64_t boxedTensors(const sem::OpModel &op, const sem::Kernel &kernel) {
  bool isFed = std::any_of(kernel.spec.knobs.begin(), kernel.spec.knobs.end(), [](const sem::NamedInt &knob) {
    return knob.name == "schedule" && knob.value != 0;
  });
  return isFed ? sem::productOperands(op, kernel) : 0;
}

/// Behind so many come the tensors that a plan gives its launch: scratch buffers, whose rows the plan has padded where it matters.
static size_t ownTensors(const sem::OpModel &op, const sem::Kernel &kernel) {
  auto isGiven = [](const ast::KernelParam &param) { return param.type && param.type->hasShape; };
  return op.tensors.size() -
         (op.isLaunch ? size_t(llvm::count_if(op.kernels[kernel.spec.kernel].decl->params, isGiven)) : 0);
}

// A fast kernel asks for vectors where tiles are long: in the tensors of the highest rank, in those whose last axis is one of these tensors'
// last axes (a norm's weight), and in those of two axes or more whose last axis is no axis of these at all (a table of angles). What is
// left, such as a number a row, is read by element. A dense kernel asks for unit strides in the same tensors, and of those that a plan
// gives it for vectors, too.
KernelParams::KernelParams(const sem::OpModel &op, const sem::Kernel &kernel, const tile::FactSet &facts)
    : op(op), spec(kernel.spec), facts(facts), tensors(op.tensors.size()), extentDivisors(op.dims.size(), 1) {
  if (spec.kernel >= 0 && op.kernels[spec.kernel].guard)
    addDivisors(*op.kernels[spec.kernel].guard, extentDivisors);
  if (!isFast())
    return;
  auto present = [&](size_t i) {
    return spec.present[i] && op.tensors[i].isTouched && !op.tensors[i].dims.empty();
  };
  size_t maxRank = 0;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (present(i))
      maxRank = std::max(maxRank, op.tensors[i].dims.size());
  uint64_t boxed = boxedTensors(op, kernel);
  size_t own = ownTensors(op, kernel);
  std::set<int64_t> vectorDims, otherDims;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!present(i) || op.tensors[i].dims.size() != maxRank)
      continue;
    if (op.tensors[i].dims.back().dim >= 0)
      vectorDims.insert(op.tensors[i].dims.back().dim);
    for (const sem::DimUse &use : op.tensors[i].dims)
      otherDims.insert(use.dim);
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!present(i))
      continue;
    const sem::DimUse &last = op.tensors[i].dims.back();
    bool isTable = op.tensors[i].dims.size() > 1 && last.dim >= 0 && !otherDims.count(last.dim);
    if (op.tensors[i].dims.size() != maxRank && !vectorDims.count(last.dim) && !isTable)
      continue;
    bool isTransposed = facts.transposed >> i & 1, isBoxed = boxed >> i & 1;
    bool hasVectors = facts.isFast() || i >= own;
    tensors[i] = {true, hasVectors, hasVectors && !isBoxed, isTransposed};
    int64_t inner = op.tensors[i].dims[op.tensors[i].dims.size() - (isTransposed ? 2 : 1)].dim;
    if (inner >= 0 && tensors[i].wholeVectors)
      extentDivisors[inner] =
          std::max(extentDivisors[inner], vectorBytes / int64_t(sizeInBytes(elementOf(int64_t(i)))));
  }
  // A part of whole vectors tells more of the dim that it is a part of: where N is even and N // 2 a multiple of 8, N is one of 16.
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].wholeVectors || tensors[i].transposed)
      continue;
    DimPart part = partOf(op.tensors[i].dims.back());
    if (part.dim < 0 || part.factor <= 0 || extentDivisors[part.dim] % part.factor != 0)
      continue;
    int64_t divisor = part.factor * vectorBytes / int64_t(sizeInBytes(elementOf(int64_t(i))));
    extentDivisors[part.dim] = std::max(extentDivisors[part.dim], divisor);
  }
}

Type tilegym::lowering::memoryType(MLIRContext *context, DType dtype) {
  switch (dtype) {
  case DType::F64:
    return Float64Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F8E4M3:
    return Float8E4M3FNType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  default:
    return IntegerType::get(context, sizeInBits(dtype));
  }
}

tile::ParamAttr KernelParams::describe(MLIRContext *context, ParamKind kind, int64_t id, int64_t axis) const {
  Type type = IntegerType::get(context, 64);
  int64_t divisor = 1, upper = -1;
  bool readonly = false;
  std::string name;
  auto tensorName = [&] { return op.tensors[id].name; };
  switch (kind) {
  case ParamKind::Base: {
    DType element = elementOf(id);
    type = tile::PtrType::get(memoryType(context, element));
    name = tensorName();
    divisor = tensors[id].aligned ? vectorBytes : sizeInBytes(element);
    bool aliased = std::any_of(op.tensors.begin(), op.tensors.end(),
                               [&](const auto &other) { return other.aliasOf == id; });
    readonly = op.tensors[id].role == sem::Role::Input && !aliased;
    break;
  }
  case ParamKind::Extent:
    name = op.dims[id].name;
    divisor = extentDivisors[id];
    upper = isFast() ? tile::maxFastExtent : extentMax;
    break;
  case ParamKind::Stride:
  case ParamKind::GroupStride:
    name = tensorName() + (kind == ParamKind::Stride ? ".stride" : ".group_stride") + std::to_string(axis);
    if (isFast()) {
      divisor = tensors[id].aligned ? vectorBytes / int64_t(sizeInBytes(elementOf(id))) : 1;
      upper = int32Max;
    }
    break;
  case ParamKind::Scalar:
    name = op.scalars[id].name;
    type = memoryType(context, spec.dtypes[op.scalars[id].typeVar]);
    break;
  case ParamKind::GroupRank:
    name = op.dims[id].name + ".rank";
    upper = tile::maxGroupRank;
    break;
  case ParamKind::GroupExtent:
    name = op.dims[id].name + ".extent" + std::to_string(axis);
    upper = extentMax;
    break;
  case ParamKind::Grid:
    name = "grid" + std::to_string(id);
    upper = int32Max;
    break;
  case ParamKind::SmCount:
    name = "sm_count";
    upper = int32Max;
    break;
  case ParamKind::ListLength:
    name = tensorName() + ".length";
    upper = tile::maxListLength;
    break;
  case ParamKind::TensorMap:
    llvm_unreachable("only passes make tensor maps");
  }
  return tile::ParamAttr::get(context, kind, id, axis, StringAttr::get(context, name), type, divisor, upper,
                              readonly, isOfList(kind, id) ? tile::maxListLength : 0);
}

bool KernelParams::isOfList(ParamKind kind, int64_t id) const {
  switch (kind) {
  case ParamKind::Base:
  case ParamKind::Stride:
    return op.tensors[id].isList;
  case ParamKind::Extent:
    return op.dims[id].perElement;
  default:
    return false;
  }
}

int64_t KernelParams::find(ParamKind kind, int64_t id, int64_t axis) const {
  auto found = numbers.find({kind, id, axis});
  return found == numbers.end() ? -1 : found->second;
}

int64_t KernelParams::numberOf(MLIRContext *context, ParamKind kind, int64_t id, int64_t axis) {
  auto [place, isNew] = numbers.try_emplace({kind, id, axis}, int64_t(attributes.size()));
  if (isNew)
    attributes.push_back(describe(context, kind, id, axis));
  return place->second;
}

Value KernelParams::get(OpBuilder &builder, ParamKind kind, int64_t id, int64_t axis, Value element) {
  int64_t number = numberOf(builder.getContext(), kind, id, axis);
  auto param = cast<tile::ParamAttr>(attributes[number]);
  if (param.getList())
    return tile::ParamOp::create(builder, builder.getUnknownLoc(), param.getType(), number, element);
  Value &value = values[number];
  if (value)
    return value;
  // At the kernel's start, after those made before, so that each dominates every use.
  OpBuilder::InsertionGuard guard(builder);
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto kernel = dyn_cast<tile::KernelOp>(parent);
  if (!kernel)
    kernel = parent->getParentOfType<tile::KernelOp>();
  if (last)
    builder.setInsertionPointAfterValue(last);
  else
    builder.setInsertionPointToStart(&kernel.getBody().front());
  last = value = tile::ParamOp::create(builder, kernel.getLoc(), param.getType(), number);
  return value;
}
