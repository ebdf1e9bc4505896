// SPDX-License-Identifier: MIT
// Reads a kernel's text and makes its inputs.
#include "tests/fuzz/kernels/KernelCase.h"
#include "compiler/interpreter/Compare.h"
#include "compiler/interpreter/Inputs.h"
#include "compiler/syntax/Parser.h"
#include "tests/fuzz/Mutate.h"
#include <algorithm>
#include <numeric>
#include <sstream>

namespace tilegym::fuzz {

using interp::Dims;
using interp::HostTensor;

namespace {

void readComments(const std::string &text, KernelCase &kernel) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string hash, fuzz, what, name;
    words >> hash >> fuzz >> what;
    if (hash != "#" || fuzz != "fuzz")
      continue;
    if (what == "specials")
      while (words >> name)
        kernel.specials.insert(name);
    if (what == "near") {
      Nearness near;
      words >> name >> near.relative >> near.absolute;
      kernel.near[name] = near;
    }
  }
}

/// Some elements become what arithmetic trips over.
void addSpecials(HostTensor &tensor, Random &random) {
  DType dtype = tensor.dtype;
  unsigned width = sizeInBits(dtype);
  for (int64_t i = 0, n = tensor.numElements(); i < n; ++i) {
    if (random.below(4))
      continue;
    if (!isFloat(dtype)) {
      uint64_t sign = uint64_t(1) << (width - 1);
      const uint64_t values[] = {0, 1, ~uint64_t(0), sign, sign - 1, sign + 1, random.next()};
      tensor.setBits(i, values[random.below(7)] & (width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1));
      continue;
    }
    FloatFormat format = floatFormat(dtype);
    uint64_t fraction = (uint64_t(1) << format.fractionBits) - 1,
             exponent = ((uint64_t(1) << format.exponentBits) - 1) << format.fractionBits,
             sign = random.below(2) ? uint64_t(1) << (format.totalBits() - 1) : 0, bits = 0;
    switch (random.below(7)) {
    case 0: // zero
      break;
    case 1: // infinity (of f8e4m3, which has none: 256)
      bits = exponent;
      break;
    case 2: // a NaN in every format
      bits = exponent | fraction;
      break;
    case 3: // subnormal
      bits = 1 + random.next() % fraction;
      break;
    case 4: // the greatest finite
      bits = (format.hasInfinity ? exponent - (uint64_t(1) << format.fractionBits) : exponent) |
             (fraction - !format.hasInfinity);
      break;
    case 5: // the least normal
      bits = uint64_t(1) << format.fractionBits;
      break;
    default: // any finite
      bits = random.next() & (exponent | fraction);
      if ((bits & exponent) == exponent)
        bits ^= uint64_t(1) << format.fractionBits;
    }
    tensor.setBits(i, sign | bits);
  }
}

/// Every second layout keeps what fast variants ask for, where the extents allow it.
bool isMild(uint64_t layout) { return layout % 2; }

/// Strides at random for a shape, and the buffer that holds every element.
HostTensor spread(DType dtype, const Dims &shape, Random &random, bool isMild, bool mayRepeat,
                  std::byte fill) {
  HostTensor out;
  out.dtype = dtype;
  out.shape = shape;
  size_t rank = shape.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t(0));
  bool keepsOrder = isMild || random.below(3) != 0, isPadded = random.below(2);
  bool isReversed = !isMild && random.below(4) == 0, isStepped = !isMild && random.below(4) == 0;
  if (!keepsOrder)
    for (size_t i = rank; i > 1; --i)
      std::swap(order[i - 1], order[random.below(i)]);
  out.strides.assign(rank, 0);
  int64_t next = isStepped ? int64_t(2 + random.below(2)) : 1, offset = random.below(3) ? 0
                                                                        : isMild ? 16
                                                                                 : int64_t(random.below(5));
  for (size_t i = rank; i-- > 0;) {
    size_t axis = order[i];
    if (mayRepeat && !isMild && random.below(12) == 0)
      continue; // stride 0: every position is one element
    out.strides[axis] = next;
    int64_t pad = !isPadded ? 0
                  : isMild  ? 16 * (i + 1 == rank)
                            : int64_t(random.below(2) ? 16 : random.below(5));
    next = next * std::max<int64_t>(shape[axis], 1) + pad;
    if (isReversed && random.below(2) && shape[axis] > 0) {
      offset += (shape[axis] - 1) * out.strides[axis];
      out.strides[axis] = -out.strides[axis];
    }
  }
  out.offset = offset;
  int64_t end = offset;
  for (size_t axis = 0; axis < rank; ++axis)
    end += out.strides[axis] > 0 ? (std::max<int64_t>(shape[axis], 1) - 1) * out.strides[axis] : 0;
  out.buffer = interp::HostBuffer::allocate(size_t(end + 1) * sizeInBytes(dtype), fill);
  return out;
}

bool sameFilling(const sem::Filling &a, const sem::Filling &b) {
  return a.kind == b.kind && a.args == b.args && !a.literal && !b.literal;
}

} // namespace

std::unique_ptr<KernelCase> readKernel(const std::string &text, const std::string &fileName,
                                       std::string &error) {
  auto kernel = std::make_unique<KernelCase>();
  DiagnosticSink sink;
  auto tree =
      std::make_shared<const ast::Spec>(parseSpec(std::make_shared<SourceFile>(fileName, text), sink));
  if (!sink.hasErrors())
    kernel->op = sem::analyze(tree, {}, sink);
  if (kernel->op && sem::checkSpec(*kernel->op, sink)) {
    kernel->model = sem::readTest(*kernel->op, *tree->test, sink);
    kernel->calls = sem::testCalls(*kernel->op, kernel->model, sink);
  }
  if (sink.hasErrors() || kernel->calls.empty()) {
    error = sink.hasErrors() ? renderAll(sink) : "no calls";
    return nullptr;
  }
  readComments(text, *kernel);
  return kernel;
}

std::vector<sem::Specialization> specializationsOf(const KernelCase &kernel, DiagnosticSink &sink) {
  std::vector<sem::Specialization> list;
  const sem::OpModel &op = *kernel.op;
  for (const sem::Specialization &interface : sem::enumerateInterfaces(op))
    for (size_t k = 0; k < op.kernels.size(); ++k)
      for (const sem::Specialization &base : sem::enumerateDerived(op, interface, int64_t(k)))
        for (sem::Specialization &spec : sem::candidates(op, base, "", sink))
          list.push_back(std::move(spec));
  return list;
}

HostTensor makeOutput(DType dtype, const Dims &shape, uint64_t layout, std::byte fill) {
  Random random(layout);
  if (layout)
    return spread(dtype, shape, random, isMild(layout), false, fill);
  HostTensor out = HostTensor::allocate(dtype, shape);
  std::fill_n(out.buffer->data(), out.buffer->size(), fill);
  return out;
}

std::optional<interp::Arguments> makeArguments(const KernelCase &kernel, const sem::TestCall &call,
                                               uint64_t layout, std::string &error) {
  const sem::OpModel &op = *kernel.op;
  std::vector<interp::Fault> faults;
  std::optional<interp::Arguments> args = interp::makeInputs(op, call, interp::Spread::Dense, faults);
  if (!args) {
    error = faults.empty() ? "no inputs" : faults.front().message;
    return std::nullopt;
  }
  Random random(call.seed ^ (layout * 0x9e3779b97f4a7c15u));
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    if (args->tensors[id].empty())
      continue;
    const sem::TensorParam &tensor = op.tensors[id];
    HostTensor &dense = args->tensors[id][0];
    if (kernel.specials.count(tensor.name))
      addSpecials(dense, random);
    if (!layout)
      continue;
    bool isInput = tensor.role == sem::Role::Input;
    HostTensor from = dense;
    for (size_t back = 1; isInput && back <= tensor.dims.size(); ++back) {
      const sem::DimUse &use = tensor.dims[tensor.dims.size() - back];
      bool binds = use.dim >= 0 && op.dims[size_t(use.dim)].bindTensor == int64_t(id);
      if (use.orOne && !binds && back <= from.shape.size() && from.shape[from.shape.size() - back] > 1 &&
          random.below(2))
        from.shape[from.shape.size() - back] = 1; // the first of the axis, which broadcasts
    }
    HostTensor out;
    const HostTensor *shared = nullptr;
    for (size_t other = 0; other < id && isInput; ++other)
      if (op.tensors[other].role == sem::Role::Input && !args->tensors[other].empty() &&
          args->tensors[other][0].dtype == from.dtype && args->tensors[other][0].shape == from.shape &&
          kernel.specials.count(op.tensors[other].name) == kernel.specials.count(tensor.name) &&
          sameFilling(call.fillings[other][0], call.fillings[id][0]) && !isMild(layout) &&
          random.below(4) == 0)
        shared = &args->tensors[other][0];
    if (shared) {
      dense = *shared; // inputs may overlap: this one is the other, read backwards along an axis
      size_t rank = dense.shape.size(), axis = rank ? random.below(rank) : 0;
      if (rank && dense.shape[axis] > 0) {
        dense.offset += (dense.shape[axis] - 1) * dense.strides[axis];
        dense.strides[axis] = -dense.strides[axis];
      }
      continue;
    }
    out = spread(from.dtype, from.shape, random, isMild(layout), isInput, std::byte{0xff});
    for (int64_t i = 0, n = out.numElements(); i < n; ++i)
      out.setBits(i, from.bits(i));
    dense = std::move(out);
  }
  return args;
}

static std::string faultText(const std::vector<interp::Fault> &faults) {
  return faults.empty() ? "no reason given" : render(interp::toDiagnostic(faults[0]));
}

std::optional<std::vector<std::vector<interp::HostTensor>>> wantedOf(const KernelCase &kernel,
                                                                     const sem::TestCall &call,
                                                                     const interp::Arguments &args,
                                                                     std::string &error) {
  const sem::OpModel &op = *kernel.op;
  std::vector<interp::Fault> faults;
  DiagnosticSink sink;
  std::optional<sem::Specialization> base = interp::deriveParams(op, call.bound.spec, 0, args, faults);
  std::vector<sem::Specialization> points;
  if (base)
    points = sem::candidates(op, *base, "", sink);
  if (points.size() != 1) { // more would be compiled to one of them, by the cost model
    error = points.empty() ? faultText(faults) : "a kernel of the fuzzer has one point to tune";
    return std::nullopt;
  }
  interp::RunOptions run;
  run.threads = 1;
  run.maxIterations = 1000;
  interp::RunResult result = interp::runInSeveralOrders(op, points[0], args, run);
  if (!result.ok()) {
    error = faultText(result.faults);
    return std::nullopt;
  }
  return std::move(result.tensors);
}

std::string difference(const KernelCase &kernel, const std::vector<std::vector<HostTensor>> &got,
                       const std::vector<std::vector<HostTensor>> &want) {
  const sem::OpModel &op = *kernel.op;
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    if (op.tensors[id].role == sem::Role::Input || want[id].empty())
      continue;
    const std::string &name = op.tensors[id].name;
    if (got[id].empty())
      return name + " is missing";
    interp::Tolerance tolerance;
    tolerance.scaled = false;
    if (auto near = kernel.near.find(name); near != kernel.near.end()) {
      tolerance.relative = near->second.relative;
      tolerance.absolute = near->second.absolute;
    }
    if (auto mismatch = interp::compareTensors(name, got[id][0], want[id][0], tolerance))
      return interp::describe(*mismatch);
  }
  return "";
}

} // namespace tilegym::fuzz
