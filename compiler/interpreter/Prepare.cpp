// SPDX-License-Identifier: MIT
// Memory of a run: outputs allocated and filled, inouts copied, overlaps refused, shadows and views made.
#include "compiler/interpreter/Binding.h"
#include "compiler/interpreter/NumericsConvert.h"
#include <algorithm>
#include <bit>
#include <map>

namespace tilegym::interp {

namespace {

/// Unwritten outputs hold this, so that a value nobody wrote is seen as one (NaN in floats).
constexpr std::byte poison{0xFF};

HostTensor allocatePoisoned(DType dtype, Dims shape) {
  HostTensor tensor = HostTensor::allocate(dtype, std::move(shape));
  std::memset(tensor.buffer->data(), int(poison), tensor.buffer->size());
  return tensor;
}

/// The bytes an element range of a tensor spans, as [low, high).
std::pair<const std::byte *, const std::byte *> span(const HostTensor &tensor) {
  const int64_t size = sizeInBytes(tensor.dtype);
  if (tensor.numElements() == 0)
    return {nullptr, nullptr};
  int64_t low = tensor.offset, high = tensor.offset;
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    (tensor.strides[i] < 0 ? low : high) += (tensor.shape[i] - 1) * tensor.strides[i];
  return {tensor.buffer->data() + low * size, tensor.buffer->data() + (high + 1) * size};
}

/// Marks the bytes of a tensor's elements in a map that starts at `from`; true where one was marked already.
bool markBytes(const HostTensor &tensor, const std::byte *from, std::vector<bool> &marks, bool set) {
  const int64_t size = sizeInBytes(tensor.dtype);
  bool met = false;
  forEachPosition(tensor, [&](int64_t, int64_t position) {
    const std::byte *element = tensor.buffer->data() + position * size;
    for (int64_t b = 0; b < size; ++b) {
      const ptrdiff_t at = element + b - from;
      if (at < 0 || at >= ptrdiff_t(marks.size()))
        continue;
      met = met || marks[size_t(at)];
      if (set)
        marks[size_t(at)] = true;
    }
  });
  return met;
}

bool sharesElements(const HostTensor &a, const HostTensor &b) {
  auto [aLow, aHigh] = span(a);
  auto [bLow, bHigh] = span(b);
  if (!aLow || !bLow || aHigh <= bLow || bHigh <= aLow)
    return false;
  std::vector<bool> marks(static_cast<size_t>(aHigh - aLow));
  markBytes(a, aLow, marks, true);
  return markBytes(b, aLow, marks, false);
}

bool repeatsElements(const HostTensor &tensor) {
  if (tensor.isContiguous())
    return false;
  auto [low, high] = span(tensor);
  if (!low)
    return false;
  std::vector<bool> marks(static_cast<size_t>(high - low));
  return markBytes(tensor, low, marks, true);
}

bool mayAlias(const sem::OpModel &op, size_t a, size_t b) {
  return op.tensors[a].aliasOf == int64_t(b) || op.tensors[b].aliasOf == int64_t(a);
}

void checkOverlap(const RunContext &context) {
  const sem::OpModel &op = context.op;
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    if (op.tensors[t].role == sem::Role::Input)
      continue;
    for (size_t i = 0; i < context.hostTensors[t].size(); ++i) {
      const HostTensor &written = context.hostTensors[t][i];
      if (repeatsElements(written))
        fail(Fault::Overlap, "two elements of '" + op.tensors[t].name + "' are one in memory",
             op.tensors[t].range, "an output needs strides that keep its elements apart");
      for (size_t u = 0; u < op.tensors.size(); ++u)
        for (size_t j = 0; j < context.hostTensors[u].size(); ++j) {
          const bool seen = op.tensors[u].role != sem::Role::Input && (u < t || (u == t && j <= i));
          if (seen || mayAlias(op, t, u) || !sharesElements(written, context.hostTensors[u][j]))
            continue;
          fail(Fault::Overlap,
               "'" + op.tensors[t].name + "' shares elements with '" + op.tensors[u].name + "'",
               op.tensors[t].range,
               "give it memory of its own, or write `" + op.tensors[t].name + " alias " + op.tensors[u].name +
                   "` in the signature");
        }
    }
  }
}

void fillTensor(HostTensor &tensor, const sem::Constant &fill) {
  uint64_t bits = fill.isFloat()
                      ? convertBits(DType::F64, std::bit_cast<uint64_t>(fill.asFloat()), tensor.dtype)
                      : convertBits(DType::I64, uint64_t(fill.asInt()), tensor.dtype);
  const int64_t size = sizeInBytes(tensor.dtype);
  forEachPosition(tensor, [&](int64_t, int64_t at) {
    std::memcpy(tensor.buffer->data() + at * size, &bits, size_t(size));
  });
}

void placeOutput(RunContext &context, size_t t, const std::vector<Dims> &shapes) {
  const sem::TensorParam &param = context.op.tensors[t];
  const DType dtype = context.spec.dtypes.at(size_t(param.typeVar));
  auto &tensors = context.hostTensors[t];
  if (!tensors.empty() && tensors.size() != shapes.size())
    fail(Fault::Arguments,
         std::to_string(tensors.size()) + " tensors for output '" + param.name + "', expected " +
             std::to_string(shapes.size()),
         param.range);
  const bool given = !tensors.empty();
  for (size_t g = 0; g < shapes.size(); ++g) {
    if (!given) {
      tensors.push_back(allocatePoisoned(dtype, shapes[g]));
    } else if (tensors[g].dtype != dtype || tensors[g].shape != shapes[g]) {
      fail(Fault::Arguments,
           "output '" + param.name + "' is " + std::string(name(tensors[g].dtype)) +
               toString(Shape(tensors[g].shape)) + ", expected " + std::string(name(dtype)) +
               toString(Shape(shapes[g])),
           param.range);
    } else if (tensors[g].strides.size() != tensors[g].shape.size() || !tensors[g].isInsideBuffer()) {
      fail(Fault::Arguments, "output '" + param.name + "' reaches outside of its buffer", param.range);
    }
    if (param.fill)
      fillTensor(tensors[g], *param.fill);
  }
}

} // namespace

View wholeView(Memory &memory, const std::vector<sem::DimUse> *dims, const BoundDims *bound) {
  const HostTensor &tensor = memory.tensor;
  View view;
  view.memory = &memory;
  view.base = tensor.offset;
  const bool hasGroup = dims && !dims->empty() && (*dims)[0].isGroup;
  const size_t leading = hasGroup ? tensor.shape.size() + 1 - dims->size() : 0;
  if (hasGroup) {
    // One axis where the strides merge, else a table of its offsets.
    ViewAxis axis{1, 0, 0, 1, 0};
    bool merges = true;
    for (size_t i = leading; i-- > 0;) {
      const int64_t extent = tensor.shape[i];
      if (extent == 1)
        continue;
      if (axis.extent == 1)
        axis.stride = tensor.strides[i];
      else
        merges = merges && tensor.strides[i] == axis.stride * axis.extent;
      axis.extent *= extent;
    }
    axis.high = axis.extent;
    if (!merges && axis.extent > 0) {
      auto table = std::make_shared<GatherTable>();
      table->states.assign(size_t(axis.extent), GatherTable::Inside);
      for (int64_t r = 0; r < axis.extent; ++r) {
        int64_t rest = r, offset = 0;
        for (size_t i = leading; i-- > 0;) {
          offset += rest % tensor.shape[i] * tensor.strides[i];
          rest /= tensor.shape[i];
        }
        table->offsets.push_back(offset);
      }
      view.table = std::move(table);
      axis.stride = 0;
      axis.tableStride = 1;
    }
    view.axes.push_back(axis);
  }
  for (size_t i = leading; i < tensor.shape.size(); ++i) {
    ViewAxis axis{tensor.shape[i], tensor.strides[i], 0, tensor.shape[i], 0};
    const sem::DimUse *use = dims ? &(*dims)[i + (hasGroup ? 1 : 0) - leading] : nullptr;
    if (use && use->orOne && axis.extent == 1 && use->dim >= 0)
      axis = {bound->dims.values[size_t(use->dim)], 0, 0, bound->dims.values[size_t(use->dim)], 0};
    view.axes.push_back(axis);
  }
  return view;
}

namespace {
/// Tensors of one buffer share its shadow, which only memory that is written needs.
void makeMemories(RunContext &context, const BoundDims &bound) {
  const sem::OpModel &op = context.op;
  std::map<std::pair<HostBuffer *, unsigned>, std::shared_ptr<Shadow>> shadows;
  std::map<HostBuffer *, std::shared_ptr<std::mutex>> locks;
  auto shadowKey = [](const HostTensor &tensor) {
    return std::pair(tensor.buffer.get(), sizeInBytes(tensor.dtype));
  };
  for (size_t t = 0; t < op.tensors.size(); ++t)
    for (HostTensor &tensor : context.hostTensors[t]) {
      if (!tensor.buffer)
        tensor.buffer = HostBuffer::allocate(0); // of a tensor without elements
      auto &lock = locks[tensor.buffer.get()];
      if (!lock)
        lock = std::make_shared<std::mutex>();
      if (op.tensors[t].role == sem::Role::Input || !context.options.sanitize)
        continue;
      auto &shadow = shadows[shadowKey(tensor)];
      if (!shadow)
        shadow = std::make_shared<Shadow>(int64_t(tensor.buffer->size() / sizeInBytes(tensor.dtype)), false);
    }
  context.views.resize(op.tensors.size());
  for (size_t t = 0; t < op.tensors.size(); ++t)
    for (size_t g = 0; g < context.hostTensors[t].size(); ++g) {
      const sem::TensorParam &param = op.tensors[t];
      HostTensor &tensor = context.hostTensors[t][g];
      Memory &memory = context.memories.emplace_back();
      memory.name = param.isList ? param.name + "[" + std::to_string(g) + "]" : param.name;
      memory.tensor = tensor;
      memory.data = tensor.buffer->data();
      memory.dtype = tensor.dtype;
      memory.readOnly = param.role == sem::Role::Input;
      memory.atomicLock = locks[tensor.buffer.get()];
      if (auto found = shadows.find(shadowKey(tensor)); found != shadows.end()) {
        memory.shadow = found->second;
        if (param.role != sem::Role::Output || param.fill)
          forEachPosition(tensor, [&](int64_t, int64_t at) { memory.shadow->markWritten(at); });
      }
      context.views[t].push_back(wholeView(memory, &param.dims, &bound));
    }
}
} // namespace

void prepare(RunContext &context, const Arguments &args) {
  const sem::OpModel &op = context.op;
  BoundDims bound = bindOrFail(op, context.spec, args);
  context.dims = bound.dims;
  context.scalars = scalarsFor(op, context.spec, args);
  context.hostTensors = args.tensors;
  const auto shapes = outputShapesOrFail(op, context.spec, args, bound);
  for (size_t t = 0; t < op.tensors.size(); ++t) {
    const sem::TensorParam &param = op.tensors[t];
    if (param.role == sem::Role::Output && context.spec.present[t])
      placeOutput(context, t, shapes[t]);
    else if (param.role == sem::Role::Output && !context.hostTensors[t].empty())
      fail(Fault::Arguments, "output '" + param.name + "' was given to a variant without it", param.range);
    else if (param.role == sem::Role::Inout && !context.options.inPlace)
      for (HostTensor &tensor : context.hostTensors[t])
        tensor = tensor.cloneWithStrides();
  }
  checkOverlap(context);
  makeMemories(context, bound);
}

void checkWritten(const RunContext &context, std::vector<Fault> &faults) {
  size_t memory = 0;
  for (size_t t = 0; t < context.op.tensors.size(); ++t)
    for (const HostTensor &tensor : context.hostTensors[t]) {
      const Memory &m = context.memories[memory++];
      if (context.op.tensors[t].role != sem::Role::Output || !m.shadow)
        continue;
      int64_t missing = 0, first = -1;
      const int64_t count = tensor.numElements();
      forEachPosition(tensor, [&](int64_t i, int64_t at) {
        if (!m.shadow->isWritten(at))
          first = missing++ ? first : i;
      });
      if (missing == 0)
        continue;
      Fault fault;
      fault.kind = Fault::Unwritten;
      fault.message = std::to_string(missing) + " of " + std::to_string(count) + " elements of '" + m.name +
                      "' were never written";
      fault.help = "every element of an output is written, or the signature fills it: `-> h: i32[256] = 0`";
      fault.range = context.op.tensors[t].range;
      fault.tensor = m.name;
      for (size_t axis = tensor.shape.size(); axis-- > 0;) {
        fault.element.insert(fault.element.begin(), first % tensor.shape[axis]);
        first /= tensor.shape[axis];
      }
      faults.push_back(std::move(fault));
    }
}

} // namespace tilegym::interp
