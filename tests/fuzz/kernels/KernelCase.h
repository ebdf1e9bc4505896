// SPDX-License-Identifier: MIT
// A kernel's text made ready to run: the checked op, its calls, and inputs in every way that memory may hold them.
#pragma once
#include "compiler/interpreter/Interpreter.h"
#include "compiler/semantics/TestCalls.h"
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tilegym::fuzz {

struct Nearness {
  double relative = 0, absolute = 0;
};

struct KernelCase {
  std::shared_ptr<const sem::OpModel> op;
  sem::TestModel model;
  std::vector<sem::TestCall> calls;     ///< point into the model
  std::map<std::string, Nearness> near; ///< outputs that are not compared bit for bit
  std::set<std::string> specials;       ///< inputs with unusual values
};

/// Null, with `error` set, where the text is no sound spec.
std::unique_ptr<KernelCase> readKernel(const std::string &text, const std::string &fileName,
                                       std::string &error);

/// Everything that compiling makes a kernel of: dtypes, consts, derived and tuned values.
std::vector<sem::Specialization> specializationsOf(const KernelCase &kernel, DiagnosticSink &sink);

/// The inputs of a call. Layout 0 is dense; any other number is a seed: permuted, padded, strided, reversed and repeated axes, odd addresses, inputs that
/// overlap, `B|1` axes of 1.
std::optional<interp::Arguments> makeArguments(const KernelCase &kernel, const sem::TestCall &call,
                                               uint64_t layout, std::string &error);

/// What the interpreter makes of a call; a text in `error` where it finds a fault.
std::optional<std::vector<std::vector<interp::HostTensor>>> wantedOf(const KernelCase &kernel,
                                                                     const sem::TestCall &call,
                                                                     const interp::Arguments &args,
                                                                     std::string &error);

/// A tensor of this shape for an output to be written to, laid out at random (layout 0: dense), full of `fill`.
interp::HostTensor makeOutput(DType dtype, const interp::Dims &shape, uint64_t layout, std::byte fill);

/// Null where every output and inout of `got` agrees with `want`; else what differs.
std::string difference(const KernelCase &kernel, const std::vector<std::vector<interp::HostTensor>> &got,
                       const std::vector<std::vector<interp::HostTensor>> &want);

} // namespace tilegym::fuzz
