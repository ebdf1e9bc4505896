// SPDX-License-Identifier: MIT
// The grid, the order of its blocks, and their threads.
#include "compiler/interpreter/Launch.h"
#include "compiler/interpreter/Parallel.h"
#include <limits>
#include <new>
#include <numeric>
#include <random>

namespace tilegym::interp {

namespace {

bool exprUses(const sem::Expr &e, bool (*matches)(sem::Op)) {
  if (matches(e.op))
    return true;
  for (const auto &operand : e.operands)
    if (exprUses(*operand, matches))
      return true;
  for (const auto &item : e.items)
    if ((item.first && exprUses(*item.first, matches)) || (item.second && exprUses(*item.second, matches)))
      return true;
  if (e.lambda) {
    if (usesOp(e.lambda->body, matches))
      return true;
    for (const auto &result : e.lambda->results)
      if (exprUses(*result, matches))
        return true;
  }
  return false;
}

std::vector<int64_t> blockOrder(int64_t count, const RunOptions &options) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t(0));
  if (options.order == BlockOrder::Reversed)
    std::reverse(order.begin(), order.end());
  if (options.order == BlockOrder::Shuffled) {
    std::mt19937_64 random(options.seed);
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[size_t(random() % i)]);
  }
  return order;
}

std::vector<int64_t> gridOf(const RunContext &context, const sem::Kernel &kernel,
                            const LaunchContext &launch) {
  std::vector<int64_t> grid;
  Evaluator evaluator(context, &launch, kernel.locals.size());
  int64_t blocks = 1;
  for (const auto &extent : kernel.grid) {
    grid.push_back(indexValue(evaluator, extent));
    if (grid.back() < 0)
      fail(Fault::Arguments, "the grid has an extent of " + std::to_string(grid.back()), extent->range,
           "extents are 0 or more");
    if (__builtin_mul_overflow(blocks, grid.back(), &blocks) || blocks > std::numeric_limits<int32_t>::max())
      fail(Fault::Arguments, "the grid has more than 2^31 - 1 blocks", extent->range);
  }
  return grid;
}

} // namespace

bool usesOp(const sem::Block &block, bool (*matches)(sem::Op)) {
  for (const auto &stmt : block) {
    for (const auto &e : {stmt->value, stmt->view, stmt->lo, stmt->hi, stmt->step})
      if (e && exprUses(*e, matches))
        return true;
    if (usesOp(stmt->condBlock, matches) || usesOp(stmt->body, matches) || usesOp(stmt->elseBody, matches))
      return true;
  }
  return false;
}

bool isAtomic(sem::Op op) { return op >= sem::Op::AtomicAdd && op <= sem::Op::AtomicCas; }

void runLaunch(const RunContext &context, const sem::Kernel &kernel, std::vector<Slot> params) {
  LaunchContext launch;
  launch.kernel = kernel.name;
  launch.params = std::move(params);
  launch.grid = gridOf(context, kernel, launch);
  const bool atomics = usesOp(kernel.block, isAtomic);
  for (const Memory &memory : context.memories)
    if (memory.shadow)
      memory.shadow->beginLaunch(atomics);
  for (const Slot &param : launch.params)
    if (auto *view = std::get_if<View>(&param); view && view->memory->shadow)
      view->memory->shadow->beginLaunch(atomics);

  const int64_t count =
      std::accumulate(launch.grid.begin(), launch.grid.end(), int64_t(1), std::multiplies<>());
  const std::vector<int64_t> order = blockOrder(count, context.options);
  const bool prints = usesOp(kernel.block, [](sem::Op op) { return op == sem::Op::Print; });
  const unsigned threads = prints || context.op.nondeterministic ? 1 : context.options.threads;
  std::mutex faultLock;
  std::optional<Fault> earliest;
  std::atomic<int64_t> faultAt{count};
  parallelFor(count, threads, [&](int64_t i) {
    if (i > faultAt.load(std::memory_order_relaxed))
      return;
    Evaluator evaluator(context, &launch, kernel.locals.size());
    const int64_t number = order[size_t(i)];
    evaluator.blockNumber = int32_t(number);
    int64_t rest = number;
    for (int64_t extent : launch.grid) {
      evaluator.block.push_back(rest % extent);
      rest /= extent;
    }
    std::optional<Fault> fault;
    try {
      evaluator.run(kernel.block);
    } catch (RunFault &thrown) {
      fault = std::move(thrown.fault);
    } catch (const std::bad_alloc &) {
      fault.emplace().kind = Fault::OutOfMemory;
      fault->message = "out of memory";
    } catch (const std::exception &error) {
      fault.emplace().message = std::string("the checked tree and the op model disagree: ") + error.what();
    }
    if (!fault)
      return;
    fault->kernel = kernel.name;
    fault->block = evaluator.block;
    std::lock_guard<std::mutex> lock(faultLock);
    if (i < faultAt) {
      faultAt = i;
      earliest = std::move(fault);
    }
  });
  if (earliest)
    throw RunFault{std::move(*earliest)};
}

} // namespace tilegym::interp
