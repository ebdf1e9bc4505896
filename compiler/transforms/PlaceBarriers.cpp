// SPDX-License-Identifier: MIT
// One walk in program order with what was done to each buffer since the last barrier; loop bodies several times, as they follow themselves.
#include "compiler/ir/TensorCopy.h"
#include "compiler/transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tilegym::transforms {
#define GEN_PASS_DEF_PLACEBARRIERS
#include "compiler/transforms/Passes.h.inc"

namespace {

using Buffers = llvm::SmallDenseSet<Value>;

struct State {
  Buffers read, written; ///< since the last barrier, on some way here
  Buffers copied;        ///< by copies that nobody has waited for
  Buffers inFlight;      ///< read by products that nobody has waited for, whatever barriers were met
  bool freed = false;    ///< a buffer that was read has ended, so that another may lie in its place
  /// Buffers that the copy engine may still read: how many tensor stores began since, at least.
  llvm::SmallDenseMap<Value, int64_t> storing;

  bool join(const State &other) {
    size_t before = size();
    bool changed = false;
    for (auto [buffer, since] : other.storing) {
      auto [mine, isNew] = storing.try_emplace(buffer, since);
      changed |= since < mine->second;
      mine->second = std::min(mine->second, since);
    }
    for (auto [mine, theirs] : {std::pair(&read, &other.read),
                                {&written, &other.written},
                                {&copied, &other.copied},
                                {&inFlight, &other.inFlight}})
      mine->insert(theirs->begin(), theirs->end());
    freed |= other.freed;
    return changed || size() != before;
  }
  size_t size() const {
    return read.size() + written.size() + copied.size() + inFlight.size() + storing.size() + freed;
  }
  void meet() {
    read.clear();
    written.clear();
    freed = false;
  }
};

Value bufferOf(Value slot) {
  auto op = slot.getDefiningOp<tile::SlotOp>();
  return op ? op.getBuffer() : slot;
}

SmallVector<Value> slotsOf(tile::DotOp dot) {
  SmallVector<Value> slots;
  for (Value operand : dot->getOperands())
    if (isa<tile::SharedType>(operand.getType()))
      slots.push_back(operand);
  return slots;
}

class Placer {
public:
  explicit Placer(tile::KernelOp kernel) {
    kernel.walk([&](tile::DotOp dot) {
      if (dot.getWarpgroups())
        for (Value operand : slotsOf(dot))
          readByItself.insert(bufferOf(operand));
    });
    kernel.walk([&](tile::TensorStoreOp store) {
      readByItself.insert(bufferOf(store.getSlot()));
      if (store.getApart())
        apart.insert(bufferOf(store.getSlot()));
    });
  }

  void block(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      visit(&op);
  }

private:
  void meet(Operation *before) {
    if (!looking) {
      OpBuilder b(before);
      showAll(tile::BarrierOp::create(b, before->getLoc(), /*async=*/false, /*apart=*/false));
    }
    state.meet();
  }

  /// Between two uses of the buffer: all threads, or each warpgroup's where it alone uses its part.
  void meetAt(Operation *before, Value buffer) {
    if (state.freed || !apart.contains(buffer))
      return meet(before);
    if (!looking) {
      OpBuilder b(before);
      tile::BarrierOp::create(b, before->getLoc(), /*async=*/state.written.contains(buffer), /*apart=*/true);
    }
    state.read.erase(buffer);
    state.written.erase(buffer);
  }

  /// The last barrier between writes of threads and the own reads of tensor cores or copy engine makes them known to these, whatever else it is for.
  void showAll(tile::BarrierOp barrier) {
    if (llvm::any_of(state.written, [&](Value buffer) { return readByItself.contains(buffer); }))
      barrier.setAsync(true);
  }

  /// Until the copy engine has read the buffer; true if it may have been reading. The threads know after a barrier.
  bool awaitStores(Operation *before, Value buffer) {
    auto found = state.storing.find(buffer);
    if (found == state.storing.end())
      return false;
    int64_t pending = found->second;
    if (!looking) {
      OpBuilder b(before);
      tile::TensorStoreWaitOp::create(b, before->getLoc(), pending);
    }
    for (auto [other, since] : llvm::to_vector(state.storing))
      if (since >= pending)
        state.storing.erase(other);
    return true;
  }

  void store(tile::TensorStoreOp op) {
    Value buffer = bufferOf(op.getSlot());
    if (state.written.contains(buffer))
      meetAt(op, buffer);
    for (auto &[other, since] : state.storing)
      ++since;
    state.storing[buffer] = 0;
  }

  void readSlots(Operation *op, ArrayRef<Value> slots) {
    if (llvm::any_of(slots, [&](Value slot) { return state.written.contains(bufferOf(slot)); }))
      meet(op);
    for (Value slot : slots)
      state.read.insert(bufferOf(slot));
  }

  /// A write must not overtake the reads of what the slot held before.
  void writeSlot(Operation *op, Value slot, Buffers &written) {
    bool waited = awaitStores(op, bufferOf(slot));
    if (waited || state.freed || state.read.contains(bufferOf(slot)))
      meetAt(op, bufferOf(slot));
    written.insert(bufferOf(slot));
  }

  void bodies(Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &body : region)
        block(body);
  }

  /// First what can be on entry, coming round included, then the barriers.
  void loop(Operation *op) {
    State entry = state;
    bool outer = looking;
    looking = true;
    do {
      state = entry;
      bodies(op);
    } while (entry.join(state));
    looking = outer;
    state = entry;
    bodies(op);
    state.join(entry);
  }

  void branch(Operation *op) {
    State before = state, after = op->getRegion(1).empty() ? before : State();
    for (Region &region : op->getRegions())
      for (Block &body : region) {
        state = before;
        block(body);
        after.join(state);
      }
    state = after;
  }

  void visit(Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return loop(op);
    if (isa<scf::IfOp>(op))
      return branch(op);
    if (auto roles = dyn_cast<tile::RolesOp>(op))
      return block(roles.getConsumer().front()); // the producer's slots change hands by mbarriers
    if (auto barrier = dyn_cast<tile::BarrierOp>(op)) {
      if (!looking)
        showAll(barrier);
      state.meet();
    } else if (auto dealloc = dyn_cast<tile::DeallocOp>(op)) {
      state.freed |= awaitStores(op, dealloc.getBuffer());
      state.freed |= state.read.erase(dealloc.getBuffer());
    } else if (auto stored = dyn_cast<tile::TensorStoreOp>(op)) {
      store(stored);
    } else if (auto put = dyn_cast<tile::PutOp>(op)) {
      writeSlot(op, put.getSlot(), state.written);
    } else if (auto rest = dyn_cast<tile::PutRestOp>(op)) {
      readSlots(op, {rest.getFrom()});
      writeSlot(op, rest.getSlot(), state.written);
    } else if (auto copy = dyn_cast<tile::CopyAsyncOp>(op)) {
      writeSlot(op, copy.getSlot(), state.copied);
    } else if (isa<tile::CopyWaitOp>(op)) {
      state.written.insert(state.copied.begin(), state.copied.end());
    } else if (auto dot = dyn_cast<tile::DotOp>(op)) {
      readSlots(op, slotsOf(dot));
      if (dot.getInFlight())
        for (Value slot : slotsOf(dot))
          state.inFlight.insert(bufferOf(slot));
    } else if (auto wait = dyn_cast<tile::DotWaitOp>(op)) {
      // The reads end here, for what this thread knows.
      state.read.insert(state.inFlight.begin(), state.inFlight.end());
      if (wait.getPending() == 0)
        state.inFlight.clear();
    }
  }

  State state;
  Buffers readByItself;
  Buffers apart;        ///< each warpgroup writes and stores a part of its own
  bool looking = false; ///< barriers are not made, only thought of
};

struct PlaceBarriersPass : impl::PlaceBarriersBase<PlaceBarriersPass> {
  void runOnOperation() override { Placer(getOperation()).block(getOperation().getBody().front()); }
};

} // namespace
} // namespace tilegym::transforms
