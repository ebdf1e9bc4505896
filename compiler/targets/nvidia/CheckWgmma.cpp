// SPDX-License-Identifier: MIT
// Follows the registers of wgmmas in flight through a thread's structured control flow. A state holds what is in flight at one point of the program;
// loops are walked until their state no longer grows, so that the second iteration meets what the first left in flight.
#include "compiler/targets/nvidia/Passes.h"
#include "compiler/targets/nvidia/ptx/PtxDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/MapVector.h"

namespace tilegym::nvidia {
#define GEN_PASS_DEF_CHECKWGMMA
#include "compiler/targets/nvidia/Passes.h.inc"

namespace {
using namespace mlir;

/// How many groups were committed since; a wgmma that is not committed itself.
constexpr int uncommitted = -1;
/// Waits count to 7: older groups need not be told apart.
constexpr int oldest = 8;

/// What is in flight: values, and the youngest group that each may belong to.
using Flight = DenseMap<Value, int>;

struct State {
  Flight accumulators; ///< results of wgmmas
  Flight words;        ///< A in registers
  DenseSet<Value> unfenced, taken;
  bool fenced = false;

  void join(const State &other) {
    for (auto [mine, theirs] :
         {std::pair(&accumulators, &other.accumulators), std::pair(&words, &other.words)})
      for (auto [value, age] : *theirs) {
        auto [found, isNew] = mine->try_emplace(value, age);
        found->second = std::min(found->second, age);
      }
    unfenced.insert_range(other.unfenced);
    taken.insert_range(other.taken);
    fenced &= other.fenced;
  }
  bool operator==(const State &) const = default;
};

class Checker {
public:
  bool failed = false;

  void function(LLVM::LLVMFuncOp function) {
    if (!function.getBody().hasOneBlock()) {
      error(function, "has wgmmas and unstructured control flow, in which they cannot be followed");
      return;
    }
    State state;
    state.unfenced.insert_range(function.getArguments());
    block(function.getBody().front(), state);
  }

private:
  InFlightDiagnostic error(Operation *op, const Twine &text) {
    failed = true;
    // Loops are walked more than once.
    return reported.insert(op).second ? op->emitOpError(text) : InFlightDiagnostic();
  }

  void block(Block &block, State &state) {
    for (Operation &op : block)
      TypeSwitch<Operation *>(&op)
          .Case<scf::ForOp, scf::WhileOp, scf::IfOp, ptx::WgmmaOp, ptx::WgmmaFenceOp, ptx::WgmmaCommitOp,
                ptx::WgmmaWaitOp, LLVM::ReturnOp>([&](auto one) { visit(one, state); })
          .Case<scf::YieldOp, scf::ConditionOp>([](auto) {}) // bound by the op that they end
          .Default([&](Operation *one) { plain(one, state); });
  }

  /// Whether the value may be what a wgmma gave and no wait has returned.
  bool isPending(Value value) const { return pending.contains(value); }

  void plain(Operation *op, State &state) {
    bool holdsWgmma = op->walk([](ptx::WgmmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (holdsWgmma)
      error(op, "has a wgmma in a region in which it cannot be followed");
    requireReal(op, op->getOperands());
    for (Value result : op->getResults())
      define(op, result, state);
  }

  void requireReal(Operation *op, ValueRange operands) {
    if (llvm::any_of(operands, [&](Value operand) { return isPending(operand); }))
      error(
          op,
          "uses an accumulator of a wgmma that may be in flight: take it from a wgmma_wait that returns it");
  }

  /// An instruction writes this register.
  void define(Operation *op, Value value, State &state) {
    state.unfenced.insert(value);
    if (state.words.contains(value))
      error(op, "overwrites A words of a wgmma that is still in flight from the iteration before: wait with "
                "0 pending before they are "
                "written again, or unroll by two so that each step has words of its own");
    // Nothing keeps the old words' registers after the wgmma is issued: the next ones get them.
    else if (Value old = replaced.lookup(value); old && state.words.contains(old))
      error(op,
            "computes the next A words of a loop while a wgmma in flight may read the old ones in the same "
            "registers: pass what they are computed from, or the old words, through the wgmma_wait before");
  }

  /// Values that become a loop's A words, and the words whose registers they take. Old words that a wait keeps are in nobody's way.
  void noteReplaced(scf::ForOp loop) {
    llvm::DenseSet<Value> kept;
    loop.walk([&](ptx::WgmmaWaitOp wait) {
      for (Value value : wait.getValues())
        for (Value same = value; same; same = passedOn(same))
          kept.insert(same);
    });
    for (auto [word, next] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      if (!kept.contains(word))
        for (Value same = next; same && same != word; same = passedOn(same))
          replaced[same] = word;
  }

  /// `to`, an argument or a result of a structured op, holds what `from` does.
  void bind(Operation *op, ValueRange to, ValueRange from, State &state) {
    State before = state;
    for (auto [target, source] : llvm::zip_equal(to, from)) {
      if (target == source)
        continue;
      if (state.words.contains(target))
        define(op, target, state);
      if (isPending(source)) {
        pending.insert(target);
        take(op, source, state);
        if (isPending(rootOf(source)) && llvm::is_contained(to, rootOf(source)) && rootOf(source) != target)
          error(op, "moves accumulators in flight from one loop value to another: keep each in its own, or "
                    "wait with 0 pending first");
      }
      if (auto age = before.accumulators.find(source); age != before.accumulators.end())
        state.accumulators[target] = age->second;
      state.taken.erase(target);
      state.unfenced.erase(target);
      if (before.unfenced.contains(source))
        state.unfenced.insert(target);
    }
  }

  /// The value whose registers a chain of wgmmas adds to.
  Value rootOf(Value value) const {
    while (auto op = value.getDefiningOp<ptx::WgmmaOp>())
      value = op.getAccumulators()[cast<OpResult>(value).getResultNumber()];
    return value;
  }

  void visit(scf::ForOp loop, State &state) {
    noteReplaced(loop);
    bind(loop, loop.getRegionIterArgs(), loop.getInitArgs(), state);
    untilStable(state, [&](State &inside) {
      define(loop, loop.getInductionVar(), inside);
      block(*loop.getBody(), inside);
      Operation *yield = loop.getBody()->getTerminator();
      bind(yield, loop.getRegionIterArgs(), yield->getOperands(), inside);
    });
    bind(loop, loop.getResults(), loop.getRegionIterArgs(), state);
  }

  void visit(scf::WhileOp loop, State &state) {
    bind(loop, loop.getBeforeArguments(), loop.getInits(), state);
    State leaving;
    untilStable(state, [&](State &inside) {
      block(*loop.getBeforeBody(), inside);
      leaving = inside;
      bind(loop, loop.getAfterArguments(), loop.getConditionOp().getArgs(), inside);
      block(*loop.getAfterBody(), inside);
      bind(loop.getYieldOp(), loop.getBeforeArguments(), loop.getYieldOp().getOperands(), inside);
    });
    state = leaving;
    bind(loop, loop.getResults(), loop.getConditionOp().getArgs(), state);
  }

  /// Walks a loop's body from the join of what enters and what comes back, until that is all there is.
  void untilStable(State &state, llvm::function_ref<void(State &)> body) {
    for (bool grew = true; grew;) {
      State inside = state, known = state;
      size_t knownPending = pending.size();
      body(inside);
      state.join(inside);
      grew = !(state == known) || pending.size() != knownPending;
    }
  }

  void visit(scf::IfOp branch, State &state) {
    bool holdsWgmma = branch->walk([](ptx::WgmmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
    bool crossed = holdsWgmma && !state.accumulators.empty();
    State otherwise = state;
    block(*branch.thenBlock(), state);
    if (branch.elseBlock())
      block(*branch.elseBlock(), otherwise);
    if (branch.getNumResults()) {
      bind(branch, branch.getResults(), branch.thenYield().getOperands(), state);
      bind(branch, branch.getResults(), branch.elseYield().getOperands(), otherwise);
    }
    crossed |=
        holdsWgmma && llvm::any_of(branch.getResults(), [&](Value result) { return isPending(result); });
    if (crossed)
      error(branch, "branches around a wgmma whose accumulators live on: ptxas serializes it; switch `scale` "
                    "off instead, peel the "
                    "iteration, or split the loop");
    state.join(otherwise);
  }

  /// It writes no register: what it takes, it passes on.
  void visit(ptx::WgmmaFenceOp fence, State &state) {
    requireReal(fence, fence.getValues());
    state.unfenced.clear();
    state.fenced = true;
  }

  void visit(ptx::WgmmaOp op, State &state) {
    if (!state.fenced)
      error(op, "can come before any wgmma_fence: put one before it");
    state.fenced = true; // one error is enough for a row of wgmmas
    for (Value accumulator : op.getAccumulators()) {
      if (isPending(accumulator))
        take(op, accumulator, state);
      else if (!accumulator.getDefiningOp<LLVM::PoisonOp>())
        requireFence(op, accumulator, state);
    }
    requireReal(op, op.getA());
    for (Value word : op.getA()) {
      if (word.getType().isInteger(64))
        continue;
      requireFence(op, word, state);
      // Registers that an op only passes on are the same ones.
      for (Value same = word; same; same = passedOn(same))
        state.words[same] = uncommitted;
    }
    for (Value result : op.getResults()) {
      pending.insert(result);
      state.taken.erase(result);
      state.accumulators[result] = uncommitted;
    }
  }

  static Value passedOn(Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (!result || !isa<ptx::WgmmaFenceOp, ptx::WgmmaWaitOp>(result.getOwner()))
      return {};
    return result.getOwner()->getOperand(result.getResultNumber());
  }

  void requireFence(ptx::WgmmaOp op, Value value, State &state) {
    if (state.unfenced.contains(value))
      error(op, "reads registers that may have been written since the last wgmma_fence: put one before it");
  }

  /// The registers go on to another op.
  void take(Operation *op, Value accumulator, State &state) {
    if (!state.taken.insert(accumulator).second)
      error(op, "takes an accumulator that another wgmma or wait has taken: its registers in flight would "
                "have to be copied");
    state.accumulators.erase(accumulator);
  }

  void visit(ptx::WgmmaCommitOp, State &state) {
    for (Flight *flight : {&state.accumulators, &state.words})
      for (auto &[value, age] : *flight)
        age = std::min(age + 1, oldest);
  }

  void visit(ptx::WgmmaWaitOp wait, State &state) {
    int pendingGroups = int(wait.getPending());
    for (auto [value, result] : llvm::zip(wait.getValues(), wait.getResults())) {
      state.unfenced.erase(result);
      if (!isPending(value)) {
        if (state.unfenced.contains(value))
          state.unfenced.insert(result);
        continue;
      }
      if (auto age = state.accumulators.find(value); age != state.accumulators.end()) {
        if (age->second == uncommitted)
          error(wait,
                "returns an accumulator of a wgmma that is not committed: put a wgmma_commit between them");
        else if (age->second < pendingGroups)
          error(wait,
                "returns an accumulator of a group that it may leave pending: return it from a wait with " +
                    Twine(age->second) + " pending or fewer");
      }
      take(wait, value, state);
    }
    for (Flight *flight : {&state.accumulators, &state.words}) {
      Flight left;
      for (auto [value, age] : *flight)
        if (age < pendingGroups)
          left.insert({value, age});
      *flight = std::move(left);
    }
  }

  void visit(LLVM::ReturnOp end, State &state) {
    if (!state.accumulators.empty())
      error(end, "ends the kernel while a wgmma is in flight: wait for it first");
  }

  DenseSet<Value> pending; ///< grows only: what may be a wgmma's result anywhere
  DenseMap<Value, Value> replaced;
  DenseSet<Operation *> reported;
};

struct CheckWgmmaPass : impl::CheckWgmmaBase<CheckWgmmaPass> {
  void runOnOperation() override {
    getOperation().walk([&](LLVM::LLVMFuncOp function) {
      if (!function.walk([](ptx::WgmmaOp) { return WalkResult::interrupt(); }).wasInterrupted())
        return;
      Checker checker;
      checker.function(function);
      if (checker.failed)
        signalPassFailure();
    });
  }
};

} // namespace
} // namespace tilegym::nvidia
