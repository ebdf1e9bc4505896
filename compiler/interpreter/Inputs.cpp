// SPDX-License-Identifier: MIT
// Generators to elements. All randomness is Philox keyed by a hash of the case's and the tensor's name.
#include "compiler/interpreter/Inputs.h"
#include "compiler/interpreter/Numerics.h"
#include <bit>
#include <cmath>
#include <numeric>

namespace tilegym::interp {
namespace {

/// 64 random bits for element i.
uint64_t bitsAt(PhiloxStream &stream, uint64_t i) {
  return uint64_t(stream.at(2 * i)) | uint64_t(stream.at(2 * i + 1)) << 32;
}

/// Box-Muller: elements 2k and 2k + 1 share a pair of uniforms.
double normalAt(PhiloxStream &stream, uint64_t i) {
  constexpr double twoPi = 6.28318530717958647693;
  double u = (double(stream.at(i / 2 * 2)) + 1) * 0x1p-32; // in (0, 1]: its log is finite
  double angle = twoPi * double(stream.at(i / 2 * 2 + 1)) * 0x1p-32;
  return std::sqrt(-2 * std::log(u)) * (i % 2 ? std::sin(angle) : std::cos(angle));
}

template <class Wide, class Fn> void fill(HostTensor &out, DType wide, Fn element) {
  constexpr size_t chunk = 1024;
  Wide values[chunk];
  size_t count = size_t(out.numElements());
  std::byte *data = out.buffer->data();
  for (size_t first = 0; first < count; first += chunk) {
    size_t here = std::min(chunk, count - first);
    for (size_t i = 0; i < here; ++i)
      values[i] = element(first + i);
    convert(wide, Source{values, 1}, out.dtype, data + first * sizeInBytes(out.dtype), here);
  }
}

template <class Fn> void fillDoubles(HostTensor &out, Fn element) { fill<double>(out, DType::F64, element); }
template <class Fn> void fillInts(HostTensor &out, Fn element) { fill<int64_t>(out, DType::I64, element); }

/// Fisher-Yates for each row of the last axis.
std::vector<int64_t> permutations(size_t rows, size_t columns, PhiloxStream &stream) {
  std::vector<int64_t> values(rows * columns);
  for (size_t row = 0; row < rows; ++row) {
    int64_t *start = values.data() + row * columns;
    std::iota(start, start + columns, 0);
    for (size_t i = columns; i-- > 1;)
      std::swap(start[i], start[bitsAt(stream, row * columns + i) % (i + 1)]);
  }
  return values;
}

void setConstant(HostTensor &out, size_t i, const sem::Constant &value) {
  DType from = value.isFloat() ? DType::F64 : DType::I64;
  uint64_t bits =
      value.isFloat() ? std::bit_cast<uint64_t>(value.asFloat()) : static_cast<uint64_t>(value.asInt());
  out.setBits(int64_t(i), convertBits(from, bits, out.dtype));
}

std::string shapeText(const Dims &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

/// More than a test on one machine can mean; computed so that it cannot overflow.
bool isTooLarge(DType type, const Dims &shape) {
  double bytes = sizeInBytes(type);
  for (int64_t extent : shape)
    bytes *= double(extent);
  return bytes > 0x1p34;
}

Fault inputFault(Fault::Kind kind, SourceRange range, std::string tensor, std::string message) {
  Fault fault;
  fault.kind = kind;
  fault.range = range;
  fault.tensor = std::move(tensor);
  fault.message = std::move(message);
  return fault;
}

} // namespace

uint64_t hashName(std::string_view text, uint64_t start) {
  for (char c : text)
    start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return start;
}

std::optional<HostTensor> literalTensor(DType type, const Dims &shape, const sem::LiteralTensor &literal) {
  bool fits = literal.shape.size() == shape.size();
  for (size_t axis = 0; fits && axis < shape.size(); ++axis)
    fits = literal.shape[axis] == shape[axis] || literal.shape[axis] == sem::kDynamic;
  if (!fits)
    return std::nullopt;
  HostTensor out = HostTensor::allocate(type, shape);
  for (size_t i = 0; i < literal.elements.size(); ++i)
    setConstant(out, i, literal.elements[i]);
  return out;
}

std::optional<HostTensor> generate(DType type, const Dims &shape, const sem::Filling &filling, uint64_t seed,
                                   std::string &error) {
  using Rule = sem::Generator;
  if (filling.kind == Rule::Literal) {
    auto literal = filling.literal ? literalTensor(type, shape, *filling.literal) : std::nullopt;
    if (!literal)
      error = "the literal has shape " + (filling.literal ? shapeText(filling.literal->shape) : "[]") +
              ", but " + shapeText(shape) + " is expected";
    return literal;
  }
  auto argument = [&](size_t i) { return i < filling.args.size() ? filling.args[i] : 0; };
  const double a = argument(0), b = argument(1);
  HostTensor out = HostTensor::allocate(type, shape);
  size_t count = size_t(out.numElements());
  if (count == 0)
    return out;
  PhiloxStream stream(seed, 32);
  size_t columns = shape.empty() ? 1 : size_t(shape.back());
  switch (filling.kind) {
  case Rule::Normal:
    fillDoubles(out, [&](size_t i) { return a + b * normalAt(stream, i); });
    break;
  case Rule::Uniform:
    fillDoubles(out, [&](size_t i) { return a + (b - a) * ((double(stream.at(i)) + 0.5) * 0x1p-32); });
    break;
  case Rule::RandInt: {
    int64_t lo = toInt(a, DType::I64), hi = toInt(b, DType::I64);
    if (lo >= hi) {
      error = "randint(" + std::to_string(lo) + ", " + std::to_string(hi) +
              ") is an empty range: its end is excluded";
      return std::nullopt;
    }
    uint64_t width = uint64_t(hi) - uint64_t(lo);
    fillInts(out, [&](size_t i) { return int64_t(uint64_t(lo) + bitsAt(stream, i) % width); });
    break;
  }
  case Rule::Iota:
    fillInts(out, [](size_t i) { return int64_t(i); });
    break;
  case Rule::Fill:
    fillDoubles(out, [&](size_t) { return a; });
    break;
  case Rule::Choice:
    fillDoubles(out, [&](size_t i) { return filling.args[bitsAt(stream, i) % filling.args.size()]; });
    break;
  case Rule::OneHot: {
    if (filling.args.size() == 2) {
      fillDoubles(out,
                  [&](size_t i) { return i % columns == bitsAt(stream, i / columns) % columns ? a : b; });
      break;
    }
    int64_t at = toInt(argument(2), DType::I64), place = at < 0 ? at + int64_t(columns) : at;
    if (place < 0 || place >= int64_t(columns)) {
      error = "one_hot at " + std::to_string(at) + " is outside a row of " + std::to_string(columns);
      return std::nullopt;
    }
    fillDoubles(out, [&](size_t i) { return int64_t(i % columns) == place ? a : b; });
    break;
  }
  case Rule::Permutation: {
    std::vector<int64_t> values = permutations(count / columns, columns, stream);
    fillInts(out, [&](size_t i) { return values[i]; });
    break;
  }
  case Rule::Literal:
  case Rule::Absent:
    break;
  }
  return out;
}

HostTensor respread(const HostTensor &tensor, Spread spread, std::byte fill) {
  HostTensor out;
  out.dtype = tensor.dtype;
  out.shape = tensor.shape;
  Dims outer = tensor.shape;
  size_t rank = outer.size();
  if (spread == Spread::Transposed && rank >= 2)
    std::swap(outer[rank - 1], outer[rank - 2]);
  // Each axis apart, so that no two can be taken as one.
  for (size_t axis = 1; spread == Spread::Padded && axis < rank; ++axis)
    outer[axis] += axis + 1 == rank ? 3 : 1;
  if (spread == Spread::Padded && rank == 1)
    outer[0] += 3;
  int64_t inner = spread == Spread::Strided ? 2 : 1;
  out.strides = contiguousStrides(outer);
  for (int64_t &stride : out.strides)
    stride *= inner;
  if (spread == Spread::Transposed && rank >= 2)
    std::swap(out.strides[rank - 1], out.strides[rank - 2]);
  out.offset = spread == Spread::Padded ? 1 : 0;
  out.buffer =
      HostBuffer::allocate(size_t(numElements(outer) * inner + out.offset) * sizeInBytes(out.dtype), fill);
  for (int64_t i = 0, count = out.numElements(); i < count; ++i)
    out.setBits(i, tensor.bits(i));
  return out;
}

std::optional<Arguments> makeInputs(const sem::OpModel &op, const sem::TestCall &test, Spread spread,
                                    std::vector<Fault> &faults) {
  Arguments args;
  args.tensors.resize(op.tensors.size());
  for (const auto &scalar : test.bound.values.scalars)
    args.scalars.push_back(scalar.value_or(sem::Constant{}));
  SourceRange range = test.testCase ? test.testCase->range : SourceRange{};
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    const std::string &called = op.tensors[id].name;
    for (size_t element = 0; element < test.fillings[id].size(); ++element) {
      const auto &[type, shape] = test.shape.tensors[id][element];
      if (isTooLarge(type, shape)) {
        faults.push_back(
            inputFault(Fault::OutOfMemory, range, called,
                       "`" + called + "` of shape " + shapeText(shape) + " takes more than 16 GiB"));
        return std::nullopt;
      }
      std::string error;
      uint64_t seed = hashName(called + "/" + std::to_string(element), test.seed);
      auto made = generate(type, shape, test.fillings[id][element], seed, error);
      if (!made) {
        faults.push_back(inputFault(Fault::Arguments, range, called, "`" + called + "`: " + error));
        return std::nullopt;
      }
      args.tensors[id].push_back(spread == Spread::Dense ? std::move(*made) : respread(*made, spread));
    }
  }
  return args;
}

} // namespace tilegym::interp
