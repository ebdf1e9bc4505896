// SPDX-License-Identifier: MIT
// Which stores of products go through shared memory to the copy engine, and in how many strips.
#include "compiler/ir/TensorCopy.h"
#include "compiler/ir/TensorMaps.h"
#include "compiler/ir/VectorAccess.h"
#include "compiler/layout/Build.h"
#include "compiler/layout/Transform.h"
#include "compiler/transforms/GridExtent.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_STAGESTORES
#include "compiler/transforms/Passes.h.inc"

namespace {

/// What PlanShared aligns buffers to.
constexpr int64_t bufferAlignment = 1024;
/// Left for mbarriers, and for what moves between threads while buffers live.
constexpr int64_t besideBuffers = 1024;
/// What a block takes of its multiprocessor's shared memory beyond its own.
constexpr int64_t takenByBlock = 1024;
constexpr int64_t maxRows = 256; // of one copy

/// Whether the value is a product's result, or elementwise work on one.
bool followsProduct(Value value, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return false;
  if (isa<tile::DotOp, tile::DotWaitOp, tile::SplitSumOp>(op))
    return true;
  auto follows = [&](Value operand) { return followsProduct(operand, seen); };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return follows(loop.getBody()->getTerminator()->getOperand(number));
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    return follows(branch.thenYield().getOperand(number)) || follows(branch.elseYield().getOperand(number));
  }
  return op->hasTrait<OpTrait::Elementwise>() && llvm::any_of(op->getOperands(), follows);
}

/// How a store's tile goes through shared memory.
struct Staging {
  int axis = 0;             ///< of the tile: along which neighbours are neighbours in memory
  int64_t strips = 1;       ///< equal parts along it
  int64_t layers = 1;       ///< equal parts along the other axis, each of as many strips
  int64_t buffers = 1;      ///< that the strips take in turns, two or, where there is room for one alone, one
  int64_t swizzle = 128;    ///< bytes
  SmallVector<int64_t> box; ///< by axis of the region
  RankedTensorType part;    ///< one strip, in registers
  RankedTensorType slot;    ///< and in shared memory
  int64_t groups = 1;       ///< equal parts of the rows, each of which a warpgroup stores for itself
};

class Stager {
public:
  Stager(tile::KernelOp kernel, int64_t budget) : kernel(kernel), budget(budget) {}

  void run() {
    SmallVector<tile::StoreOp> stores;
    kernel.walk([&](tile::StoreOp store) { stores.push_back(store); });
    for (tile::StoreOp store : stores)
      if (isAlone(store))
        if (std::optional<Staging> plan = planFor(store))
          rewrite(store, *plan);
  }

private:
  /// Whether nothing else in the kernel, nor another run of the store, touches what it writes: the order of copies by the engine and accesses by threads, and
  /// among copies, is not kept.
  bool isAlone(tile::StoreOp store) {
    bool alone = true;
    for (Operation *outer = store->getParentOp(); outer != kernel; outer = outer->getParentOp())
      alone &= isa<tile::RolesOp, scf::IfOp>(outer) || isGridLoop(outer);
    int64_t base = store.getBase().getDefiningOp<tile::ParamOp>().getNumber();
    kernel.walk([&](tile::RegionOp other) {
      if (other.getOperation() == store)
        return;
      auto param = other.getBase().getDefiningOp<tile::ParamOp>();
      bool isRead = isa<tile::LoadOp, tile::CopyAsyncOp, tile::HoldOp>(other.getOperation());
      // An output may lie where an input does, if the signature names it.
      alone &= isRead ? param.getParam().getReadonly() : param.getNumber() != base;
    });
    return alone;
  }

  std::optional<Staging> planFor(tile::StoreOp store) {
    auto region = cast<tile::RegionOp>(store.getOperation());
    auto type = dyn_cast<RankedTensorType>(store.getValue().getType());
    llvm::SmallPtrSet<Operation *, 16> seen;
    if (!type || type.getRank() != 2 || store.getMask() || region.hasGroup() || kernel.getCtas() > 1 ||
        !followsProduct(store.getValue(), seen))
      return std::nullopt;
    // What begins before the tensor would have to be left out.
    if (llvm::any_of(store.getChecks(), [](int32_t check) { return check & tile::CheckLower; }))
      return std::nullopt;
    Staging plan;
    SmallVector<int64_t> regionAxes = region.getRegionAxes();
    int64_t innermost = -1;
    for (int64_t i = 0; i < region.getNumAxes(); ++i)
      if (regionAxes[i] >= 0 && matchPattern(region.getAxis(i).stride, m_One()))
        innermost = i;
    // The engine writes whole units of 16 bytes, also beyond the end of a row.
    if (innermost < 0 ||
        tile::knownDivisor(region.getAxis(innermost).upper) * int64_t(type.getElementTypeBitWidth() / 8) % 16)
      return std::nullopt;
    plan.axis = int(regionAxes[innermost]);
    int64_t bytes = type.getElementTypeBitWidth() / 8, rows = type.getDimSize(1 - plan.axis);
    int64_t rowBytes = type.getDimSize(plan.axis) * bytes;
    auto layout = cast<tile::LayoutAttr>(type.getEncoding()).getLayout();
    if (layout.vectors(plan.axis, 16 / bytes).width * bytes == 16)
      return std::nullopt; // threads store as well: the plain cores' results
    for (plan.swizzle = 128; plan.swizzle > 16 && rowBytes % plan.swizzle; plan.swizzle /= 2) {
    }
    if (plan.swizzle == 16 || rows % 8 || rows % std::min(rows, maxRows))
      return std::nullopt;
    if (!fit(store, type, plan))
      return std::nullopt;
    if (mayPart(store))
      plan.groups = groupsOfRows(cast<tile::LayoutAttr>(plan.part.getEncoding()).getLayout(), 1 - plan.axis);
    for (int64_t i = 0; i < region.getNumAxes(); ++i)
      plan.box.push_back(i == innermost       ? plan.swizzle / bytes
                         : regionAxes[i] >= 0 ? std::min(rows / plan.layers / plan.groups, maxRows)
                                              : 1);
    return plan;
  }

  /// Whether warpgroups that do not meet at a store gain by it: the tensor cores go on with one's products beside another's store. Not where they multiply what threads
  /// made, which has all registers: fmha is up to 9 % slower on an H200.
  bool mayPart(tile::StoreOp store) {
    if (kernel.getTeams() > 1 || !store->getParentOfType<tile::RolesOp>())
      return false;
    return !kernel
                .walk([](tile::DotOp dot) {
                  return isa<RankedTensorType>(dot.getA().getType()) ? WalkResult::interrupt()
                                                                     : WalkResult::advance();
                })
                .wasInterrupted();
  }

  /// How many warpgroups there are, if the first of them holds the first rows, and so on; else 1.
  static int64_t groupsOfRows(const layout::Layout &part, int axis) {
    constexpr size_t warpBits = 2; // within a warpgroup
    int64_t rows = part.shape()[size_t(axis)], groups = part.numWarps() >> warpBits;
    if (groups < 2 || part.unit()[size_t(axis)] != rows)
      return 1;
    for (layout::Dim dim : layout::allDims)
      for (auto [bit, base] : llvm::enumerate(part.bases(dim))) {
        int64_t group = dim == layout::Dim::Warp && bit >= warpBits ? int64_t(1) << (bit - warpBits) : 0;
        if (part.unitCoords(base)[size_t(axis)] / (rows / groups) != group)
          return 1;
      }
    return groups;
  }

  /// The whole tile at once where there is room for it, else strips, two on their way, if need be of half the rows, where threads hold such; where not even these leave room
  /// for that, one.
  bool fit(tile::StoreOp store, RankedTensorType type, Staging &plan) {
    int64_t room = roomAt(store), bytes = type.getElementTypeBitWidth() / 8;
    int64_t most = type.getDimSize(plan.axis) * bytes / plan.swizzle;
    for (int64_t buffers : {2, 1}) {
      for (int64_t strips = 1; strips <= most; ++strips)
        if (most % strips == 0 && cut(type, plan, strips, 1, buffers, room))
          return true;
      if (cut(type, plan, most, 2, buffers, room))
        return true;
    }
    return false;
  }

  /// Whether parts of the tile, and buffers for them, are to be had so.
  bool cut(RankedTensorType type, Staging &plan, int64_t strips, int64_t layers, int64_t buffers,
           int64_t room) {
    int64_t bytes = type.getElementTypeBitWidth() / 8, least = 8; // rows that the swizzle repeats after
    SmallVector<int64_t> shape(type.getShape());
    if (shape[1 - plan.axis] % (layers * least))
      return false;
    shape[plan.axis] /= strips;
    shape[1 - plan.axis] /= layers;
    int64_t size = shape[0] * shape[1] * bytes, buffer = llvm::alignTo(size, bufferAlignment);
    plan.buffers = std::min(strips * layers, buffers);
    if (plan.buffers * buffer * kernel.getTeams() > room || (kernel.getTeams() > 1 && size != buffer))
      return false;
    layout::Layout part = cast<tile::LayoutAttr>(type.getEncoding()).getLayout();
    for (auto [axis, count] : {std::pair(plan.axis, strips), std::pair(1 - plan.axis, layers)})
      if (count > 1) {
        layout::Expected<layout::Layout> split = layout::splitAxis(part, axis, count);
        if (!split)
          return false;
        part = *split;
      }
    plan.strips = strips;
    plan.layers = layers;
    layout::Layout slot = *layout::sharedTile({shape.begin(), shape.end()}, int(bytes),
                                              {plan.axis, 1 - plan.axis}, int(plan.swizzle));
    auto with = [&](const layout::Layout &l) {
      return RankedTensorType::get(shape, type.getElementType(), tile::LayoutAttr::get(type.getContext(), l));
    };
    plan.part = with(part);
    plan.slot = with(slot);
    return true;
  }

  /// Bytes that a buffer may take at the store without the kernel needing more than it does, or than the device has.
  int64_t roomAt(tile::StoreOp store) {
    bool isNested = store->getParentOp() != kernel; // then the buffers live as long as all that it is in
    int64_t live = 0, most = 0, all = 0;
    kernel.walk([&](Operation *op) {
      if (auto alloc = dyn_cast<tile::AllocOp>(op)) {
        all += llvm::alignTo(alloc.getBuffer().getType().getBytes(), bufferAlignment);
        most = std::max(most, all);
      } else if (auto dealloc = dyn_cast<tile::DeallocOp>(op)) {
        all -=
            llvm::alignTo(cast<tile::SharedType>(dealloc.getBuffer().getType()).getBytes(), bufferAlignment);
      } else if (op == store) {
        live = all;
      }
    });
    // What is dead by now is free room; where a ring lives on, all that is left is.
    return live < most && !isNested ? std::max(most - live, minRoom) : budget - besideBuffers - most;
  }
  /// Two strips of 128 rows of 128 bytes: what is worth it where the kernel has little shared memory otherwise.
  static constexpr int64_t minRoom = 32 * 1024;

  void rewrite(tile::StoreOp store, const Staging &plan) {
    auto region = cast<tile::RegionOp>(store.getOperation());
    std::string reason;
    FailureOr<Value> map = tile::tensorMapOf(region, plan.box, plan.swizzle, reason);
    if (failed(map))
      return;
    Operation *outermost = kernel.getBody().front().findAncestorOpInBlock(*store);
    OpBuilder b(outermost);
    Location loc = store.getLoc();
    // Each team has a part of its own of every buffer.
    int64_t teams = kernel.getTeams();
    auto type = tile::SharedType::get(b.getContext(), 1, plan.slot);
    auto ofTeams = tile::SharedType::get(b.getContext(), teams, plan.slot);
    SmallVector<tile::AllocOp> buffers;
    for (int64_t i = 0; i < plan.buffers; ++i)
      buffers.push_back(tile::AllocOp::create(b, loc, ofTeams, IntegerAttr()));
    b.setInsertionPoint(store);
    Value own = teams > 1 ? Value(tile::TeamOp::create(b, loc))
                          : arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(0));
    SmallVector<int64_t> regionAxes = region.getRegionAxes();
    for (int64_t number = 0; number < plan.strips * plan.layers; ++number) {
      SmallVector<int64_t> offsets(2);
      offsets[plan.axis] = number % plan.strips * plan.part.getDimSize(plan.axis);
      offsets[1 - plan.axis] = number / plan.strips * plan.part.getDimSize(1 - plan.axis);
      Value part = store.getValue();
      if (plan.strips * plan.layers > 1)
        part = stripOf(part, plan, offsets, b);
      SmallVector<Value> indices(store.getIndices());
      for (auto [index, axis] : llvm::zip(indices, regionAxes))
        if (axis >= 0 && offsets[size_t(axis)]) {
          Value more =
              arith::ConstantOp::create(b, loc, b.getIntegerAttr(index.getType(), offsets[size_t(axis)]));
          index = arith::AddIOp::create(b, loc, index, more);
        }
      Value slot = tile::SlotOp::create(b, loc, type, buffers[size_t(number % plan.buffers)], own);
      tile::PutOp::create(b, loc, part, slot);
      tile::TensorStoreOp::create(b, loc, slot, *map, indices, /*apart=*/plan.groups > 1);
    }
    b.setInsertionPointAfter(outermost);
    for (tile::AllocOp buffer : buffers)
      tile::DeallocOp::create(b, loc, buffer);
    Operation *made = store.getValue().getDefiningOp();
    store.erase();
    eraseUnused(made);
  }

  /// A strip of the value: of what only it is made from, element by element, where that is so. Each strip is then converted next to its store; conversions of all strips before
  /// the first store make ptxas serialise the wgmmas, whose results they read (C7514).
  Value stripOf(Value value, const Staging &plan, ArrayRef<int64_t> offsets, OpBuilder &b) {
    auto type = RankedTensorType::get(plan.part.getShape(), getElementTypeOrSelf(value.getType()),
                                      plan.part.getEncoding());
    Operation *op = value.getDefiningOp();
    if (op && op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && isUsedByStripsAlone(op)) {
      IRMapping map;
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()) && !map.contains(operand))
          map.map(operand, stripOf(operand, plan, offsets, b));
      Operation *copy = b.clone(*op, map);
      copy->getResult(0).setType(type);
      return copy->getResult(0);
    }
    return tile::ExtractOp::create(b, value.getLoc(), type, value, offsets);
  }

  /// Whether the work on strips takes the op's place: the store is its only user, or what that only uses.
  static bool isUsedByStripsAlone(Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      return user == *op->getUsers().begin() &&
             (isa<tile::StoreOp>(user) ||
              (user->hasTrait<OpTrait::Elementwise>() && isUsedByStripsAlone(user)));
    });
  }

  static void eraseUnused(Operation *op) {
    llvm::SetVector<Operation *> left; // each once: an op may use a value twice
    left.insert(op);
    while (!left.empty()) {
      Operation *last = left.pop_back_val();
      if (!last || !isOpTriviallyDead(last))
        continue;
      for (Value operand : last->getOperands())
        left.insert(operand.getDefiningOp());
      last->erase();
    }
  }

  tile::KernelOp kernel;
  int64_t budget;
};

struct StageStoresPass : impl::StageStoresBase<StageStoresPass> {
  using StageStoresBase::StageStoresBase;
  void runOnOperation() override {
    int64_t blocks = std::max<int64_t>(1, getOperation().getBlocksPerSm());
    Stager(getOperation(), (sharedBytes + takenByBlock) / blocks - takenByBlock).run();
  }
};

} // namespace
} // namespace tilegym::transforms
