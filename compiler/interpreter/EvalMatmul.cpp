// SPDX-License-Identifier: MIT
// Matrix products. Operands of 16 and 8 bits have exact products in f32, which then adds in order of k from the accumulator; f8
// `promoted` and `fast` are both that. `tf32` rounds the operands to nearest first; `tf32x3` adds lo*hi, hi*lo, then hi*hi.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/Gemm.h"
#include "compiler/interpreter/NumericsFloat.h"

namespace tilegym::interp {

using sem::Precision;

namespace {

/// The dtype products are summed in.
DType workType(DType result) {
  if (result == DType::F64)
    return DType::F64;
  if (isFloat(result))
    return DType::F32;
  return sizeInBytes(result) == 8 ? DType::U64 : DType::U32;
}

Value converted(const Value &from, DType to) {
  if (from.dtype == to)
    return from;
  Value result(to, from.shape);
  convert(from.dtype, {from.data(), 1}, to, result.data(), size_t(from.count()));
  return result;
}

template <class Fn> Value mapF32(const Value &from, Fn fn) {
  Value result(DType::F32, from.shape);
  for (int64_t i = 0; i < from.count(); ++i)
    result.as<float>()[i] = fn(from.as<float>()[i]);
  return result;
}

float high(float x) { return roundToTf32(x); }
float low(float x) {
  float rest = x - high(x);
  return rest == rest ? roundToTf32(rest) : 0; // inf - inf
}

struct Product {
  int64_t m, n, k, chunk;
  unsigned threads;
};

/// acc += a @ b for matrices of one batch, all in `work`.
void multiply(const Product &p, DType work, const std::byte *a, const std::byte *b, std::byte *c) {
  auto call = [&]<class T>(T) {
    gemm(p.m, p.n, p.k, reinterpret_cast<const T *>(a), reinterpret_cast<const T *>(b),
         reinterpret_cast<T *>(c), p.chunk, p.threads);
  };
  switch (work) {
  case DType::F64:
    return call(double());
  case DType::F32:
    return call(float());
  case DType::U32:
    return call(uint32_t());
  default:
    return call(uint64_t());
  }
}

/// acc + a @ b with equal leading axes.
Value batched(const Value &a, const Value &b, Value acc, int64_t chunk, unsigned threads, SourceRange range) {
  const int rank = a.shape.rank();
  if (rank < 2 || b.shape.rank() != rank || acc.shape.rank() != rank ||
      a.shape[rank - 1] != b.shape[rank - 2])
    fail(Fault::Arguments, "matrix product of " + toString(a.shape) + " and " + toString(b.shape), range,
         "the last axis of the first must equal the last but one of the second");
  Product p{a.shape[rank - 2], b.shape[rank - 1], a.shape[rank - 1], chunk, threads};
  Value result(acc.dtype, acc.shape);
  std::memcpy(result.data(), acc.data(), acc.bytes());
  const int64_t batches = a.shape.product(0, rank - 2), size = int64_t(acc.elementSize());
  for (int64_t i = 0; i < batches; ++i)
    multiply(p, acc.dtype, a.data() + i * p.m * p.k * size, b.data() + i * p.k * p.n * size,
             result.data() + i * p.m * p.n * size);
  return result;
}

/// Each element times the scale of its block of K.
Value scaled(const Value &from, const Value &scale, int axis, SourceRange range) {
  Value wide = converted(from, DType::F32), factors = converted(scale, DType::F32);
  Shape shape = wide.shape;
  const int64_t blocks = factors.shape[axis], length = shape[axis];
  if (blocks == 0 || length % blocks != 0)
    fail(Fault::Program, "scales of shape " + toString(factors.shape) + " for operands of " + toString(shape),
         range);
  const int64_t outer = shape.product(0, axis), inner = shape.product(axis + 1, shape.rank());
  Value result(DType::F32, shape);
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < length; ++k)
      for (int64_t i = 0; i < inner; ++i) {
        const int64_t at = (o * length + k) * inner + i;
        result.as<float>()[at] =
            wide.as<float>()[at] * factors.as<float>()[(o * blocks + k / (length / blocks)) * inner + i];
      }
  return result;
}

} // namespace

Value Evaluator::mma(const sem::Expr &e) {
  Value a = value(*e.operands[0]), b = value(*e.operands[1]), acc = value(*e.operands[2]);
  const DType work = workType(acc.dtype), to = acc.dtype;
  a = converted(a, work);
  b = converted(b, work);
  Value sum = converted(acc, work);
  if (work == DType::F32 && e.precision == Precision::Tf32) {
    sum = batched(mapF32(a, high), mapF32(b, high), sum, 0, 1, e.range);
  } else if (work == DType::F32 && e.precision == Precision::Tf32x3) {
    Value aHigh = mapF32(a, high), aLow = mapF32(a, low), bHigh = mapF32(b, high), bLow = mapF32(b, low);
    sum = batched(aLow, bHigh, sum, 0, 1, e.range);
    sum = batched(aHigh, bLow, sum, 0, 1, e.range);
    sum = batched(aHigh, bHigh, sum, 0, 1, e.range);
  } else {
    sum = batched(a, b, sum, 0, 1, e.range);
  }
  return converted(sum, to);
}

Value Evaluator::mmaScaled(const sem::Expr &e) {
  Value a = value(*e.operands[0]), b = value(*e.operands[2]), acc = value(*e.operands[4]);
  const int rank = a.shape.rank();
  Value left = scaled(a, value(*e.operands[1]), rank - 1, e.range),
        right = scaled(b, value(*e.operands[3]), rank - 2, e.range);
  return converted(batched(left, right, converted(acc, DType::F32), 0, 1, e.range), acc.dtype);
}

/// NumPy's `@`: vectors become matrices for the product, leading axes broadcast. Sums of 64 products are added in turn.
Value Evaluator::matMul(const sem::Expr &e) {
  Value a = value(*e.operands[0]), b = value(*e.operands[1]);
  const DType work = workType(e.type.dtype);
  a = converted(a, work);
  b = converted(b, work);
  const bool leftVector = a.shape.rank() == 1, rightVector = b.shape.rank() == 1;
  if (a.shape.rank() == 0 || b.shape.rank() == 0)
    fail(Fault::Program, "matrix product of a scalar", e.range);
  if (leftVector)
    a = a.reshaped(Shape{1, a.shape[0]});
  if (rightVector)
    b = b.reshaped(Shape{b.shape[0], 1});
  auto batchOf = [](const Shape &shape) {
    Shape batch;
    for (int i = 0; i + 2 < shape.rank(); ++i)
      batch.push(shape[i]);
    return batch;
  };
  auto withMatrix = [](Shape batch, int64_t rows, int64_t columns) {
    batch.push(rows);
    batch.push(columns);
    return batch;
  };
  const Shape batch = broadcastShapes(batchOf(a.shape), batchOf(b.shape), e.range);
  const int64_t m = a.shape[a.shape.rank() - 2], k = a.shape[a.shape.rank() - 1],
                n = b.shape[b.shape.rank() - 1];
  a = broadcastTo(a, withMatrix(batch, m, k), e.range);
  b = broadcastTo(b, withMatrix(batch, b.shape[b.shape.rank() - 2], n), e.range);
  Value zero(work, withMatrix(batch, m, n));
  std::memset(zero.data(), 0, zero.bytes());
  Value product = converted(batched(a, b, zero, 64, context.options.threads, e.range), e.type.dtype);
  Shape shape = batch;
  if (!leftVector)
    shape.push(m);
  if (!rightVector)
    shape.push(n);
  return product.reshaped(shape);
}

} // namespace tilegym::interp
