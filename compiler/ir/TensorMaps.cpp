// SPDX-License-Identifier: MIT
// Tensor maps: the type, and how a region comes to one.
#include "compiler/ir/TensorMaps.h"
#include "compiler/ir/VectorAccess.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilegym::tile;

/// What the copy engine takes.
static constexpr int64_t maxRank = 5, maxBox = 256, unitBytes = 16;

static int64_t bytesOf(Type element) { return std::max<int64_t>(1, element.getIntOrFloatBitWidth() / 8); }

// `<element, [box of extent (by stride)?, ...], swizzle bytes>`
Type TensorMapType::parse(AsmParser &parser) {
  Type element;
  SmallVector<MapAxis> axes;
  int64_t swizzle = 0;
  auto axis = [&]() -> ParseResult {
    MapAxis &a = axes.emplace_back();
    if (parser.parseInteger(a.box) || parser.parseKeyword("of") ||
        parser.parseInteger(succeeded(parser.parseOptionalKeyword("dim")) ? a.dim : a.extent))
      return failure();
    return succeeded(parser.parseOptionalKeyword("by")) ? parser.parseInteger(a.stride) : success();
  };
  if (parser.parseLess() || parser.parseType(element) || parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, axis) || parser.parseComma() ||
      parser.parseKeyword("swizzle") || parser.parseInteger(swizzle) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), element,
                    ArrayRef<MapAxis>(axes), swizzle);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printer << '<' << getElementType() << ", [";
  llvm::interleaveComma(getAxes(), printer, [&](const MapAxis &a) {
    printer << a.box << " of ";
    if (a.dim >= 0)
      printer << "dim " << a.dim;
    else
      printer << a.extent;
    if (a.stride >= 0)
      printer << " by " << a.stride;
  });
  printer << "], swizzle " << getSwizzle() << '>';
}

/// The first rule of the copy engine that the map breaks; empty if none.
static std::string fault(Type element, ArrayRef<MapAxis> axes, int64_t swizzle) {
  if (axes.empty() || int64_t(axes.size()) > maxRank)
    return "has " + std::to_string(axes.size()) + " axes, expected 1 to 5";
  if (llvm::count_if(axes, [](const MapAxis &a) { return a.stride < 0; }) != 1)
    return "has not exactly one axis whose neighbours are neighbours in memory";
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return "is swizzled by " + std::to_string(swizzle) + " bytes, expected 0, 32, 64 or 128";
  for (const MapAxis &a : axes) {
    if (a.box < 1 || a.box > maxBox)
      return "copies " + std::to_string(a.box) + " elements along an axis, expected 1 to 256";
    if (a.dim < 0 && a.extent < 1)
      return "has an axis of extent " + std::to_string(a.extent) + ", expected at least 1";
    int64_t row = a.box * bytesOf(element);
    if (a.stride >= 0)
      continue;
    if (row % unitBytes)
      return "copies rows of " + std::to_string(row) + " bytes, expected a multiple of 16";
    if (swizzle && row > swizzle)
      return "copies rows of " + std::to_string(row) + " bytes, longer than the swizzle's " +
             std::to_string(swizzle);
  }
  return "";
}

LogicalResult TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError, Type element,
                                    ArrayRef<MapAxis> axes, int64_t swizzle) {
  std::string broken = fault(element, axes, swizzle);
  return broken.empty() ? success() : emitError() << "a tensor map " << broken;
}

int64_t TensorMapType::getInnermost() const {
  return llvm::find_if(getAxes(), [](const MapAxis &a) { return a.stride < 0; }) - getAxes().begin();
}

SmallVector<int64_t> TensorMapType::getOrder() const {
  SmallVector<int64_t> order = {getInnermost()};
  for (int64_t axis = int64_t(getAxes().size()) - 1; axis >= 0; --axis)
    if (axis != order[0])
      order.push_back(axis);
  return order;
}

int64_t TensorMapType::getBoxBytes() const {
  int64_t bytes = bytesOf(getElementType());
  for (const MapAxis &a : getAxes())
    bytes *= a.box;
  return bytes;
}

namespace {

/// The parameter that the value is: of all, or of the same tensor of a list as `element` says.
ParamAttr paramOf(Value value, Value element) {
  auto op = value.getDefiningOp<ParamOp>();
  return op && (op.isFixed() || op.getElement() == element) ? op.getParam() : ParamAttr();
}

int64_t bytesOf(ParamAttr param) {
  int64_t bytes = isa<TensorMapType>(param.getType()) ? 128 : 8;
  return bytes * std::max<int64_t>(1, param.getList());
}

/// One axis of the region; the reason why it has none.
std::string describeAxis(RegionAxis axis, Value element, int64_t elementBytes, MapAxis &made) {
  if (axis.kind == AxisKind::Gather)
    return "its positions come from a tile";
  IntegerAttr number;
  if (!matchPattern(axis.lower, m_Constant(&number)) || number.getInt() != 0)
    return "its bounds do not begin at 0";
  ParamAttr extent = paramOf(axis.upper, element);
  if (matchPattern(axis.upper, m_Constant(&number)))
    made.extent = number.getInt();
  else if (extent && extent.getKind() == ParamKind::Extent && extent.getUpper() >= 0 &&
           extent.getUpper() <= maxFastExtent)
    made.dim = extent.getId();
  else
    return extent && extent.getKind() == ParamKind::Extent ? "its extent may not fit 31 bits"
                                                           : "its bounds do not end at an extent of the op";
  if (matchPattern(axis.stride, m_Constant(&number)) && number.getInt() == 1) {
    if (knownDivisor(axis.index) * elementBytes % unitBytes)
      return "it is not known to begin at a multiple of 16 bytes";
    return "";
  }
  ParamAttr stride = paramOf(axis.stride, element);
  bool isStride = stride && (stride.getKind() == ParamKind::Stride ||
                             (stride.getKind() == ParamKind::GroupStride && stride.getAxis() == 0));
  if (!isStride)
    return "its stride is no parameter";
  if (stride.getUpper() < 0 || stride.getDivisor() * elementBytes % unitBytes)
    return "its stride is not known to be a multiple of 16 bytes";
  made.stride = stride.getAxis();
  return "";
}

} // namespace

FailureOr<Value> tilegym::tile::tensorMapOf(RegionOp region, ArrayRef<int64_t> box, int64_t swizzle,
                                            std::string &reason) {
  auto refuse = [&](std::string why) {
    reason = std::move(why);
    return failure();
  };
  auto kernel = region->getParentOfType<KernelOp>();
  auto tensor = region.getBase().getDefiningOp<ParamOp>();
  ParamAttr base = tensor ? tensor.getParam() : ParamAttr();
  if (!base || base.getKind() != ParamKind::Base)
    return refuse("the tensor is no parameter of the kernel");
  Value element = tensor.getElement();
  if (base.getDivisor() % unitBytes)
    return refuse("the tensor is not known to lie at a multiple of 16 bytes");
  if (region.getMask())
    return refuse("the access is masked");
  if (region.hasGroup())
    return refuse("its leading dims may not merge");
  Type type = region.getBase().getType().getElementType();
  SmallVector<MapAxis> axes;
  for (int64_t i = 0; i < region.getNumAxes(); ++i) {
    MapAxis &made = axes.emplace_back();
    made.box = box[i];
    if (std::string why = describeAxis(region.getAxis(i), element, bytesOf(type), made); !why.empty())
      return refuse("axis " + std::to_string(i) + ": " + why);
  }
  if (std::string broken = fault(type, axes, swizzle); !broken.empty())
    return refuse("its tensor map " + broken);

  auto mapType = TensorMapType::get(kernel.getContext(), type, axes, swizzle);
  auto param = ParamAttr::get(kernel.getContext(), ParamKind::TensorMap, base.getId(), 0,
                              StringAttr::get(kernel.getContext(), base.getName().getValue() + ".map"),
                              mapType, /*divisor=*/1, /*upper=*/-1, base.getReadonly(), base.getList());
  SmallVector<Attribute> params(kernel.getParams().getValue());
  auto found = llvm::find(params, param);
  int64_t number = found - params.begin();
  // A list's beside the tensor's address, which no use of the map comes before.
  Block &home = element ? *tensor->getBlock() : kernel.getBody().front();
  int64_t bytes = bytesOf(param);
  for (Attribute other : params)
    bytes += bytesOf(cast<ParamAttr>(other));
  if (found != params.end()) {
    for (ParamOp op : home.getOps<ParamOp>())
      if (op.getNumber() == number && op.getElement() == element && (!element || op->getPrevNode() == tensor))
        return op.getResult();
  } else if (bytes > maxParamBytes) {
    return refuse("the kernel's parameters would take more than " + std::to_string(maxParamBytes) + " bytes");
  } else if (llvm::count_if(params, [](Attribute a) {
               return cast<ParamAttr>(a).getKind() == ParamKind::TensorMap;
             }) == maxTensorMaps) {
    return refuse("the kernel has " + std::to_string(maxTensorMaps) + " tensor maps already");
  } else {
    params.push_back(param);
    kernel.setParamsAttr(ArrayAttr::get(kernel.getContext(), params));
  }
  auto b = OpBuilder::atBlockBegin(&home);
  if (element)
    b.setInsertionPointAfter(tensor);
  return ParamOp::create(b, kernel.getLoc(), mapType, number, element).getResult();
}
