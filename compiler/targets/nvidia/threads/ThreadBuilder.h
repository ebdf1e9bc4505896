// SPDX-License-Identifier: MIT
// What every family of `tiles-to-threads` works with: the values of the new function so far, where a thread's registers lie in a tile,
// shared memory, and the barriers that keep a block's accesses in program order. A tile becomes one scalar a register of its layout;
// a scalar of the block is computed alike by all threads.
#pragma once
#include "compiler/ir/Tile.h"
#include "compiler/layout/Layout.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <tuple>

namespace tilegym::nvidia {

using Registers = llvm::SmallVector<mlir::Value>;

/// What threads may have done to global memory since a barrier that all of them met on every way here.
struct AccessOrder {
  llvm::SmallSetVector<tile::RegionOp, 4> loads; ///< of tensors that something writes
  llvm::SmallSetVector<tile::RegionOp, 4> stores;
  /// Ways meet: what was done on either may have been done.
  void join(const AccessOrder &other) {
    loads.insert_range(other.loads);
    stores.insert_range(other.stores);
  }
};

class ThreadBuilder {
public:
  ThreadBuilder(mlir::OpBuilder &builder, tile::KernelOp kernel, mlir::ValueRange arguments);

  mlir::OpBuilder &b;
  mlir::Location loc;
  tile::KernelOp kernel;
  bool hasFloat8Pairs = false; ///< the target converts two f32 to f8 at a time

  // ---- values
  /// The registers of a value of the kernel; one for a scalar.
  const Registers &get(mlir::Value value) const { return values.find(value)->second; }
  mlir::Value scalar(mlir::Value value) const { return get(value).front(); }
  void set(mlir::Value value, Registers registers) { values[value] = std::move(registers); }
  mlir::Value argument(int64_t number) const { return arguments[number]; }

  /// The layout in a tile's type; null for a scalar or a tile that has none.
  const layout::Layout *layoutOf(mlir::Type type) const;
  int64_t numRegisters(mlir::Type type) const;
  /// What one element is held in: f8 travels as i8.
  mlir::Type elementType(mlir::Type type) const;

  // ---- constants and small arithmetic
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value boolean(bool value);
  mlir::Value constant(mlir::Type type, int64_t value);
  mlir::Value constantFloat(mlir::Type type, double value);
  mlir::Value add(mlir::Value a, mlir::Value b_);
  mlir::Value mul(mlir::Value a, mlir::Value b_);
  mlir::Value conjunction(mlir::Value a, mlir::Value b_); ///< either may be null: true

  // ---- who this thread is
  mlir::Value threadId(); ///< in its team, of several
  mlir::Value threadOfBlock();
  mlir::Value team(); ///< from one lane
  mlir::Value laneId();
  mlir::Value warpId();
  mlir::Value
  warpgroup(); ///< the number of this warp's four, from one lane: descriptors want what a warp shares
  mlir::Value clusterRank(); ///< this block's number in the cluster; null where tiles are not spread over one
  mlir::Value partRank();    ///< the same where each block makes a part of a product; else null
  int64_t numThreads() { return kernel.getWarps() * 32; }

  /// For one axis: coordinate(reg) = (thread ^ bits(reg)) + offset(reg), all i32; `thread` is null where it is 0.
  mlir::Value coordinate(const layout::Layout &layout, int64_t axis, int64_t reg);
  /// The two parts apart, where the register's bits are disjoint from the thread's: coordinate = thread + fixed.
  struct SplitCoordinate {
    mlir::Value thread; ///< null: 0
    int64_t fixed = 0;
  };
  SplitCoordinate splitCoordinate(const layout::Layout &layout, int64_t axis, int64_t reg);
  /// XOR of `masks[i]` over the set bits i of `index`.
  mlir::Value linear(mlir::Value index, llvm::ArrayRef<int64_t> masks);
  /// True in exactly one of the threads that hold a copy of an element; null: every thread. `inBlock`: in one thread of each block of the cluster
  /// that holds one.
  mlir::Value isOwner(const layout::Layout &layout, bool inBlock = false);
  /// True in one thread of the cluster.
  mlir::Value isFirstThread();
  mlir::Value isFirstOfWarpgroup();
  /// Runs `body` in the threads where `condition` holds; null: in all.
  void ifTrue(mlir::Value condition, llvm::function_ref<void()> body);
  /// Whether a register repeats an element that a lower one holds.
  bool isCopy(const layout::Layout &layout, int64_t reg);

  // ---- offsets along group axes that accesses share (GroupOffsets.cpp)
  /// Tensor, index, the thread's bits along the axis, coordinate of thread 0.
  using GroupKey = std::tuple<const void *, const void *, std::vector<int64_t>, int64_t>;
  std::map<GroupKey, mlir::Value> groupOffsets;

  // ---- shared memory: two buffers in turn, so that one barrier a use is enough
  /// Room for `bytes` that no thread still reads.
  mlir::Value acquireShared(int64_t bytes);
  /// After this, all threads see what was stored since acquireShared.
  void publishShared();
  mlir::Value sharedAddress(mlir::Value base, mlir::Value byteOffset);
  void storeShared(mlir::Value base, mlir::Value byteOffset, mlir::ValueRange elements);
  Registers loadShared(mlir::Value base, mlir::Value byteOffset, mlir::Type element, int64_t count,
                       bool isVolatile = false);
  /// Control flow meets here: nothing is known of who still reads what.
  void forgetSharedState() { needsBarrier = usedShared, needsClusterBarrier = usedCluster; }
  /// A loop's body follows itself: its first use may find readers of the same buffer from the turn before.
  void enterLoopBody() { needsBarrier = needsClusterBarrier = true; }
  /// Bytes the kernel needs in all; fixes the places of the buffers. Call once, at the end.
  int64_t finishShared();
  /// The kernel's own buffers (tile.alloc) lie below those in turn; while none lives, their place is free for these.
  mlir::Value beginBuffer(int64_t offset, int64_t bytes, bool inLoop);
  void endBuffer();
  void barrier();
  void warpgroupBarrier();
  /// From here on barriers are among the kernel's `warps`, of each team by itself; a producer goes its own way.
  void partRoles() { rolesParted = true; }
  /// Room of its own, as long as the block runs; aligned to 128 bytes.
  mlir::Value reserveShared(int64_t bytes);

  // ---- shared memory that the other blocks of the cluster write: two more buffers in turn
  /// Room for `bytes`, at the same place in each block, that no thread of the cluster still reads.
  mlir::Value acquireCluster(int64_t bytes);
  /// What happens once in the kernel, so outside of control flow, needs no barrier: room that others write, and an mbarrier that counts the bytes. Once in each
  /// trip of a loop, there are such for each slot of a ring that turns in it.
  struct Exchange {
    mlir::Value data, barrier, parity;
  };
  bool canExchangeOnce();
  bool canExchange();
  /// From here on in this block: each trip has a turn of a ring, and a barrier of the block before anything is sent.
  void exchangeByTurns(mlir::Value slot, mlir::Value parity, int64_t slots);
  /// Room for `bytes`; `arriving` are sent to it (ptx.store_async), by this block and others.
  Exchange beginExchange(int64_t bytes, int64_t arriving);
  /// Waits until all of it has arrived.
  void awaitExchange(const Exchange &exchange);
  /// Waits until the mbarrier's phase of that parity (null: the first one) is complete: what was counted is seen.
  void awaitPhase(mlir::Value barrier, mlir::Value parity = {});
  /// An mbarrier that exists before the block does anything, made where `condition` does, by the threads in which that holds: its first phase completes when so many bytes have arrived.
  mlir::Value countArrivals(mlir::Value condition, int64_t bytes);
  /// Before the kernel's end: none exits while what it sent is on its way.
  void leaveCluster();
  /// The same place in block `rank`.
  mlir::Value inPeer(mlir::Value base, mlir::Value rank);
  /// All threads of the cluster meet: what any wrote before, to shared or global memory, all see after it.
  void clusterBarrier();

  // ---- order of accesses to global memory within the block
  AccessOrder order;
  void orderLoad(tile::RegionOp op);
  void orderStore(tile::RegionOp op);
  /// All threads that work on a block of the grid meet: a barrier of the block or of the cluster.
  void barrierOfAll();
  /// Stores of a loop meet loads and stores of the next iteration: a barrier at its end where they may touch the same elements.
  bool needsLoopBarrier(mlir::Operation *loop);

  // ---- families call one another
  /// Moves registers between layouts of one shape by the cheapest way.
  mlir::FailureOr<Registers> convert(mlir::ArrayRef<mlir::Value> registers, const layout::Layout &from,
                                     const layout::Layout &to);
  /// The general way through shared memory: register r of the source goes to `store(r)`, register r of the result comes from `load(r)` (element
  /// offsets); `elements` in all.
  Registers throughShared(mlir::ArrayRef<mlir::Value> registers, const layout::Layout &from,
                          int64_t resultRegisters, int64_t elements,
                          llvm::function_ref<mlir::Value(int64_t)> store,
                          llvm::function_ref<mlir::Value(int64_t)> load);
  /// Row-major index of register `reg`'s element plus an offset, i32.
  mlir::Value rowMajorIndex(const layout::Layout &layout, int64_t reg, llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> offsets);
  mlir::Value shuffleXor(mlir::Value value, int64_t mask);
  /// `kind` is Up, Down or Index of ptx.shuffle, by value of any width.
  mlir::Value shuffle(mlir::Value value, int kind, mlir::Value lane);
  /// The error of an op that would move elements between the blocks of a cluster otherwise than by a reduction.
  mlir::LogicalResult failAcrossBlocks(llvm::StringRef what);
  /// Success where each block of the cluster holds the whole tile.
  mlir::LogicalResult expectWhole(const layout::Layout &layout, llvm::StringRef what);
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerBlock(mlir::Block &block);

private:
  llvm::DenseMap<mlir::Value, Registers> values;
  mutable llvm::DenseMap<mlir::Attribute, std::unique_ptr<layout::Layout>>
      layouts; ///< by attribute: a copy that stays where it is
  llvm::SmallVector<mlir::Value> arguments;
  mlir::Value blockThread, thread, lane, warp, rank, part, group, ownTeam;
  llvm::StringMap<llvm::SmallVector<mlir::Value>>
      threadParts; ///< by layout text: each axis's part from lane and warp
  llvm::ArrayRef<mlir::Value> threadPart(const layout::Layout &layout);

  bool rolesParted = false;
  bool needsBarrier = false, usedShared = false, needsClusterBarrier = false, usedCluster = false;
  mlir::Operation *clusterStart = nullptr; ///< where all threads arrive first
  mlir::Operation *lastExchange = nullptr; ///< the wait for it; null once the blocks have met since
  struct {
    mlir::Block *block = nullptr;
    mlir::Value slot, parity;
    int64_t slots = 1;
  } turn; ///< of the loop whose trips exchange
  bool exchangedByTurns = false;
  void startCluster();
  /// Buffers lie one after another: two of the block, two of the cluster, two of the block while buffers of the kernel live;
  /// then what is reserved.
  static constexpr int clusterBuffers = 2, besideBuffers = 4;
  int buffer = 0, clusterBuffer = clusterBuffers;
  llvm::SmallVector<int64_t> bufferBytes = {0, 0, 0, 0, 0, 0};
  int64_t ownBuffers = 0, ownEnd = 0; ///< the kernel's own: how many live, where the last of all ends
  mlir::Value sharedBase;
  mlir::Value bufferBase(int which, int64_t bytes);
  llvm::SmallVector<std::pair<mlir::Operation *, int>>
      bufferOffsets; ///< constants to fill in, and whose they are
  llvm::SmallVector<std::pair<mlir::Operation *, int>>
      bufferParts; ///< of buffers with a part a team, how far these are apart
};

/// A family of ops adds its handlers.
using Handler = mlir::LogicalResult (*)(ThreadBuilder &, mlir::Operation *);
using HandlerTable = llvm::StringMap<Handler>;
void addAtomicHandlers(HandlerTable &table);
void addControlHandlers(HandlerTable &table);
void addConvertHandlers(HandlerTable &table);
void addElementwiseHandlers(HandlerTable &table);
void addDebugHandlers(HandlerTable &table);
void addFloat8Handlers(HandlerTable &table);
void addHoldHandlers(HandlerTable &table);
void addMathHandlers(HandlerTable &table);
void addMemoryHandlers(HandlerTable &table);
void addProgramHandlers(HandlerTable &table);

/// A parameter's type in PTX, or that of each value of a list's: pointers to global memory, a bool as a byte, f8 as its bits, of a tensor map its address in the
/// parameter space.
mlir::Type parameterType(tile::ParamAttr param);
void addProductHandlers(HandlerTable &table);
void addRandomHandlers(HandlerTable &table);
void addReduceHandlers(HandlerTable &table);
void addRoleHandlers(HandlerTable &table);
void addRoundHandlers(HandlerTable &table);
void addScanHandlers(HandlerTable &table);
void addShapeHandlers(HandlerTable &table);
void addSharedHandlers(HandlerTable &table);
void addSplitHandlers(HandlerTable &table);

/// Inlines a region of scalars (a combiner, the meaning of inline PTX) on these arguments.
Registers inlineScalarRegion(ThreadBuilder &t, mlir::Region &region, mlir::ValueRange arguments);
/// Elementwise application of one scalar op for each register.
mlir::LogicalResult lowerElementwise(ThreadBuilder &t, mlir::Operation *op);

} // namespace tilegym::nvidia
