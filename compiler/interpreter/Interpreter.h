// SPDX-License-Identifier: MIT
// The oracle's API: evaluates references, kernels and plans of a checked op on host tensors, and says what a sanitizer would.
// Nothing here throws or aborts: whatever goes wrong is a Fault in the result.
#pragma once
#include "compiler/interpreter/HostTensor.h"
#include "compiler/semantics/OpModel.h"
#include "compiler/syntax/Diagnostic.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tilegym::interp {

/// One thing that went wrong, where, and in which block.
struct Fault {
  enum Kind : uint8_t {
    Arguments,     ///< the call: dtypes, ranks, dims that disagree, a failed `where` check
    Overlap,       ///< an output shares elements with another tensor
    OutOfBounds,   ///< an integer or gather index outside its view
    Uninitialized, ///< a read of memory never written
    Unwritten,     ///< an output element that no block wrote
    Race,          ///< two blocks touch one element, not both atomically, one of them writing
    AssertFailed,
    AssumeFailed,
    IndexRange,      ///< an `index` value that does not fit, or 64-bit overflow of one
    DivisionByZero,  ///< of scalar integers
    Loop,            ///< a loop that does not end, or a step of zero
    OrderDependence, ///< two orders of blocks gave different bits
    Program,         ///< the checked tree asks for what the interpreter cannot do
    OutOfMemory,
  } kind = Program;
  SourceRange range;
  std::string message, help;
  std::string kernel;           ///< name; empty in a reference
  std::vector<int64_t> block;   ///< block index; empty outside of blocks
  std::string tensor;           ///< name, where one is meant
  std::vector<int64_t> element; ///< index in that tensor, or in the tile where the tensor has no such element
};
/// The fault as users see it: message, then block and element.
Diagnostic toDiagnostic(const Fault &fault);

/// The values of a call. Tensors by OpModel::tensors id: one HostTensor, or as many as a list has, or none for an absent optional
/// or an output to be allocated. Given outputs are written in place. Inouts are copied unless RunOptions::inPlace.
struct Arguments {
  std::vector<std::vector<HostTensor>> tensors;
  std::vector<sem::Constant> scalars; ///< by OpModel::scalars; consts are read from the specialization
};

enum class BlockOrder : uint8_t { InOrder, Reversed, Shuffled };

struct RunOptions {
  bool sanitize = true; ///< shadow memory: uninitialised reads, races, unwritten outputs
  unsigned threads = 2; ///< blocks run at once; one where the op is nondeterministic or prints
  BlockOrder order = BlockOrder::InOrder;
  uint64_t seed = 0; ///< of Shuffled
  int64_t smCount = 3;
  bool inPlace = false;                           ///< update inouts in the caller's buffers
  int64_t maxIterations = int64_t(1) << 22;       ///< of one `while`
  std::function<void(const std::string &)> print; ///< takes lines of print(...); null drops them
};

struct RunResult {
  std::vector<std::vector<HostTensor>>
      tensors;               ///< by OpModel::tensors id: inputs as given, inouts and outputs after the run
  std::vector<Fault> faults; ///< the first few
  bool ok() const { return faults.empty(); }
};

/// Dims of a call by OpModel::dims id; `perElement` dims are lists.
struct DimValues {
  std::vector<int64_t> values;
  std::vector<std::vector<int64_t>> lists;
};

/// Takes dims from the inputs and checks ranks, dtypes, agreement and the op's `where` checks.
std::optional<DimValues> bindDims(const sem::OpModel &op, const sem::Specialization &interface,
                                  const Arguments &args, std::vector<Fault> &faults);
/// The interface specialization that a call's dtypes, consts and presence mean. `dtypeArguments` holds the dtypes of type variables
/// that no input binds, by OpModel::typeVars (others are ignored).
std::optional<sem::Specialization> specialize(const sem::OpModel &op, const Arguments &args,
                                              const std::vector<DType> &dtypeArguments,
                                              std::vector<Fault> &faults);
/// Shapes of the outputs that are tensors of the op, by tensor id; empty for the others.
std::optional<std::vector<std::vector<Dims>>> outputShapes(const sem::OpModel &op,
                                                           const sem::Specialization &interface,
                                                           const Arguments &args, std::vector<Fault> &faults);
/// One scalar host expression (a guard, a grid extent, a derived parameter, bench bytes) for a call.
std::optional<sem::Constant> evaluateHost(const sem::OpModel &op, const sem::Specialization &interface,
                                          const DimValues &dims, const Arguments &args,
                                          const sem::ExprPtr &expr, std::vector<Fault> &faults,
                                          int64_t smCount = 3);

RunResult runReference(const sem::OpModel &op, const sem::Reference &reference, const Arguments &args,
                       const RunOptions &options = {});
RunResult runKernel(const sem::OpModel &op, const sem::Kernel &kernel, const Arguments &args,
                    const RunOptions &options = {});
RunResult runPlan(const sem::OpModel &op, const sem::Plan &plan, const Arguments &args,
                  const RunOptions &options = {});

/// Kernels and plans whose guard holds for a call, in the order of choice (those only launched by plans left out).
std::vector<int64_t> eligibleKernels(const sem::OpModel &op, const sem::Specialization &interface,
                                     const Arguments &args, std::vector<Fault> &faults);
/// `interface` completed for one kernel: derived parameters evaluated for this call. Tuned ones are still to be added.
std::optional<sem::Specialization> deriveParams(const sem::OpModel &op, const sem::Specialization &interface,
                                                int64_t kernel, const Arguments &args,
                                                std::vector<Fault> &faults);
/// Instantiates and runs kernel or plan `spec.kernel`. Errors of instantiation come as faults.
RunResult runVariant(const sem::OpModel &op, const sem::Specialization &spec, const Arguments &args,
                     const RunOptions &options = {});
/// runVariant in order, reversed and shuffled: the first result, and an OrderDependence fault where bits differ (unless the op is
/// nondeterministic). A kernel without atomics in which the sanitizer saw no race cannot depend on the order, so large calls of
/// such kernels run once.
RunResult runInSeveralOrders(const sem::OpModel &op, const sem::Specialization &spec, const Arguments &args,
                             const RunOptions &options = {});
/// Instantiates and runs the reference of an interface specialization.
RunResult runReferenceOf(const sem::OpModel &op, const sem::Specialization &interface, const Arguments &args,
                         const RunOptions &options = {});

/// A reference in which every float dtype is f64: what gradients are checked against. Call it with f64 tensors.
sem::Reference widenFloats(const sem::Reference &reference);

} // namespace tilegym::interp
