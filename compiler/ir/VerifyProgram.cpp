// SPDX-License-Identifier: MIT
// Kernels and their parameters: lookups and verification.
#include "compiler/ir/KernelABI.h"
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilegym::tile;

ParamAttr KernelOp::getParam(int64_t number) { return cast<ParamAttr>(getParams()[number]); }

int64_t KernelOp::getKnob(StringRef name, int64_t fallback) {
  if (std::optional<DictionaryAttr> knobs = getKnobs())
    if (auto value = knobs->getAs<IntegerAttr>(name))
      return value.getInt();
  return fallback;
}

LogicalResult KernelOp::verify() {
  if (getGridRank() < 1 || getGridRank() > 3)
    return emitOpError("has a grid of ") << getGridRank() << " axes, expected 1 to 3";
  if (int64_t(getGridParams().size()) != getGridRank())
    return emitOpError("needs a parameter number, or -1, for each of its ") << getGridRank() << " grid axes";
  for (int64_t number : getGridParams())
    if (number < -1 || number >= getNumParams())
      return emitOpError("has ") << getNumParams() << " parameters, a grid extent names number " << number;
  if (getWarps() < 1 || getWarps() > 32)
    return emitOpError("has ") << getWarps() << " warps, expected 1 to 32";
  if (!llvm::isPowerOf2_64(getCtas()) || getCtas() > 8)
    return emitOpError("has clusters of ") << getCtas() << " blocks, expected 1, 2, 4 or 8";
  if (getBlocksPerSm() < 0)
    return emitOpError("has ") << getBlocksPerSm() << " resident blocks a multiprocessor";
  for (Attribute attr : getParams()) {
    auto param = cast<ParamAttr>(attr);
    if (param.getDivisor() < 1)
      return emitOpError("parameter '") << param.getName().getValue() << "' has divisor "
                                        << param.getDivisor() << ", expected at least 1";
    if (isa<PtrType>(param.getType()) != (param.getKind() == ParamKind::Base) ||
        isa<TensorMapType>(param.getType()) != (param.getKind() == ParamKind::TensorMap))
      return emitOpError("parameter '")
             << param.getName().getValue() << "' is of kind " << stringifyParamKind(param.getKind())
             << " and has type " << param.getType();
    if (param.getList() < 0 || param.getList() > maxListLength)
      return emitOpError("parameter '") << param.getName().getValue() << "' has room for " << param.getList()
                                        << " values, expected at most " << maxListLength;
  }
  if (getBody().front().empty() || !isa<ReturnOp>(getBody().front().back()))
    return emitOpError("must end with tile.return");
  return success();
}

int64_t KernelOp::getProducerWarps() {
  constexpr int64_t warpgroup = 4;
  for (RolesOp roles : getBody().front().getOps<RolesOp>())
    return roles.getShiftsRegisters() ? warpgroup : 1;
  return 0;
}

int64_t KernelOp::getTeams() {
  for (RolesOp roles : getBody().front().getOps<RolesOp>())
    return roles.getTeams();
  return 1;
}

ParamAttr ParamOp::getParam() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  int64_t number = getNumber();
  return kernel && number >= 0 && number < kernel.getNumParams() ? kernel.getParam(number) : ParamAttr();
}

LogicalResult ParamOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitOpError("must be in a tile.kernel");
  ParamAttr param = getParam();
  if (!param)
    return emitOpError("number ") << getNumber() << " of a kernel with " << kernel.getNumParams()
                                  << " parameters";
  if (param.getType() != getType())
    return emitOpError("has type ") << getType() << ", the kernel says " << param.getType();
  if (isFixed() != (param.getList() == 0))
    return emitOpError() << (isFixed() ? "needs the number of an element: '" : "names an element, but '")
                         << param.getName().getValue()
                         << (isFixed() ? "' has a value for each" : "' has one value");
  return success();
}

void ParamOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (ParamAttr param = getParam())
    setName(getResult(), param.getName().getValue());
}

static LogicalResult verifyGridAxis(Operation *op, int64_t axis) {
  auto kernel = op->getParentOfType<KernelOp>();
  if (axis < 0 || (kernel && axis >= kernel.getGridRank()))
    return op->emitOpError("axis ") << axis << " of a grid of " << (kernel ? kernel.getGridRank() : 0);
  return success();
}

LogicalResult BlockIdOp::verify() { return verifyGridAxis(*this, getAxis()); }
LogicalResult NumBlocksOp::verify() { return verifyGridAxis(*this, getAxis()); }

KernelABI tilegym::tile::abiOf(KernelOp kernel) {
  KernelABI abi;
  abi.entry = kernel.getSymName().str();
  abi.facts = kernel.getFacts();
  for (Attribute attr : kernel.getParams()) {
    auto param = cast<ParamAttr>(attr);
    if (auto map = dyn_cast<TensorMapType>(param.getType())) {
      abi.params.push_back({param.getKind(), param.getId(), int64_t(abi.maps.size()), 128, param.getList()});
      TensorMapABI &made = abi.maps.emplace_back(TensorMapABI{param.getId(), map.getSwizzle(), {}});
      for (int64_t axis : map.getOrder())
        made.axes.push_back(map.getAxes()[axis]);
      continue;
    }
    int64_t bytes = isa<PtrType>(param.getType()) ? 8 : (param.getType().getIntOrFloatBitWidth() + 7) / 8;
    abi.params.push_back({param.getKind(), param.getId(), param.getAxis(), bytes, param.getList()});
  }
  if (std::optional<ArrayRef<int64_t>> facts = kernel.getTensorFacts())
    for (int64_t bits : *facts)
      abi.tensors.push_back(TensorFacts::fromBits(bits));
  abi.gridRank = kernel.getGridRank();
  abi.warps = kernel.getWarps() * kernel.getTeams();
  abi.producer = kernel.getProducerWarps();
  abi.ctas = kernel.getClusterSize();
  abi.blocksPerSm = kernel.getBlocksPerSm();
  return abi;
}
