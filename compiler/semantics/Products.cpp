// SPDX-License-Identifier: MIT
// Matrix products and random numbers.
#include "compiler/semantics/BodyChecker.h"

namespace tilegym::sem {

static bool isF8(DType type) { return type == DType::F8E4M3 || type == DType::F8E5M2; }

/// The accumulator of a product; nullopt where there is none.
static std::optional<DType> accumulatorOf(DType a, DType b) {
  if (isF8(a) && isF8(b))
    return DType::F32;
  if (a != b)
    return std::nullopt;
  switch (a) {
  case DType::F16:
  case DType::BF16:
  case DType::F32:
    return DType::F32;
  case DType::F64:
    return DType::F64;
  case DType::I8:
    return DType::I32;
  default:
    return std::nullopt;
  }
}

/// The shape of a @ b for equal leading axes; empty where they do not fit.
static std::vector<int64_t> productShape(const std::vector<int64_t> &a, const std::vector<int64_t> &b) {
  size_t rank = a.size();
  if (rank < 2 || b.size() != rank || a[rank - 1] != b[rank - 2] ||
      !std::equal(a.begin(), a.end() - 2, b.begin()))
    return {};
  std::vector<int64_t> shape = a;
  shape[rank - 1] = b[rank - 1];
  return shape;
}

Value BodyChecker::matmulOp(Builtin id, const BoundArguments &args, SourceRange range) {
  if (inReference()) {
    error(range, "`" + std::string(id == Builtin::mma_ ? "mma" : "mma_scaled") + "` belongs to kernels",
          "in a reference write a @ b");
    return {};
  }
  if (id == Builtin::mma_scaled_)
    return scaledMatmul(args, range);
  Operand a = checkValue(args.values[0], "`mma`"), b = checkValue(args.values[1], "`mma`"),
          acc = checkValue(args.values[2], "`mma`");
  if (!a || !b || !acc)
    return {};
  std::string both = "`mma` of " + toString(a.type()) + " and " + toString(b.type());
  auto wanted = accumulatorOf(a.dtype(), b.dtype());
  if (!wanted) {
    error(range, both + ": these dtypes have no product",
          "both must be f16, bf16, f32, f64, i8, or f8 of either kind");
    return {};
  }
  std::vector<int64_t> shape = productShape(a.type().shape, b.type().shape);
  if (shape.empty()) {
    bool ranks = a.type().rank() < 2 || a.type().rank() != b.type().rank();
    error(range,
          both + (ranks ? ": both need two axes, or equal leading axes before them"
                        : ": a's last extent must be b's first"),
          "shapes are [M, K] and [K, N]; .T swaps two axes");
    return {};
  }
  acc = ops.require(acc, *wanted, "the accumulator of `mma`");
  if (!acc)
    return {};
  if (acc.type().shape != shape) {
    error(args.values[2]->range, "the accumulator of `mma` has type " + toString(acc.type()) + ", expected " +
                                     toString(tileType(*wanted, shape)));
    return {};
  }
  Precision precision = isF8(a.dtype())           ? Precision::Promoted
                        : a.dtype() == DType::F32 ? Precision::Ieee
                                                  : Precision::Default;
  if (const ast::Expr *option = args.values[3]) {
    const auto *word = ast::dynCast<ast::Name>(option);
    static constexpr std::pair<std::string_view, Precision> words[] = {{"ieee", Precision::Ieee},
                                                                       {"tf32", Precision::Tf32},
                                                                       {"tf32x3", Precision::Tf32x3},
                                                                       {"promoted", Precision::Promoted},
                                                                       {"fast", Precision::Fast}};
    std::optional<Precision> found;
    for (const auto &[text, value] : words)
      if (word && word->name == text)
        found = value;
    bool forF8 = found == Precision::Promoted || found == Precision::Fast;
    if (!found || (forF8 ? !isF8(a.dtype()) : a.dtype() != DType::F32)) {
      error(option->range,
            found ? "`precision=" + word->name + "` does not apply to " + std::string(name(a.dtype()))
                  : "unknown precision",
            "f32 takes ieee, tf32 or tf32x3; f8 takes promoted or fast; others take none");
      return {};
    }
    precision = *found;
  }
  auto expr = make(Op::Mma, tileType(*wanted, shape), {a.expr, b.expr, acc.expr}, range);
  expr->precision = precision;
  expr->accType = *wanted;
  return Operand{expr};
}

/// Scales cover blocks along K: a is [M, K] with scales [M, K/16 or K/32], b is [K, N] with scales [K/16 or K/32, N].
Value BodyChecker::scaledMatmul(const BoundArguments &args, SourceRange range) {
  Operand x[5];
  for (size_t i = 0; i < 5; ++i)
    if (x[i] = checkValue(args.values[i], "`mma_scaled`"); !x[i])
      return {};
  const Operand &a = x[0], &scaleA = x[1], &b = x[2], &scaleB = x[3];
  if (!isF8(a.dtype()) || !isF8(b.dtype())) {
    error(range,
          "`mma_scaled` of " + toString(a.type()) + " and " + toString(b.type()) + ": both must be f8");
    return {};
  }
  std::vector<int64_t> shape = productShape(a.type().shape, b.type().shape);
  if (shape.size() != 2) {
    error(range, "`mma_scaled` of " + toString(a.type()) + " and " + toString(b.type()) +
                     ": shapes must be [M, K] and [K, N]");
    return {};
  }
  int64_t m = shape[0], n = shape[1], k = a.type().shape[1];
  auto scalesFit = [&](const Operand &scale, bool ofA) {
    for (int64_t size : {16, 32})
      if (k % size == 0 &&
          scale.type().shape == (ofA ? std::vector<int64_t>{m, k / size} : std::vector<int64_t>{k / size, n}))
        return isFloat(scale.dtype()) && scale.dtype() == DType::F32;
    return false;
  };
  for (bool ofA : {true, false})
    if (const Operand &scale = ofA ? scaleA : scaleB; !scalesFit(scale, ofA)) {
      error(args.values[ofA ? 1 : 3]->range,
            "the scales have type " + toString(scale.type()) +
                ", expected f32, one a block of 16 or 32 along K",
            ofA ? "for a of [M, K] they are [M, K/32] or [M, K/16]"
                : "for b of [K, N] they are [K/32, N] or [K/16, N]");
      return {};
    }
  Operand acc = ops.require(x[4], DType::F32, "the accumulator of `mma_scaled`");
  if (!acc)
    return {};
  if (acc.type().shape != shape) {
    error(args.values[4]->range, "the accumulator of `mma_scaled` has type " + toString(acc.type()) +
                                     ", expected " + toString(tileType(DType::F32, shape)));
    return {};
  }
  auto expr = make(Op::MmaScaled, tileType(DType::F32, shape),
                   {a.expr, scaleA.expr, b.expr, scaleB.expr, acc.expr}, range);
  expr->accType = DType::F32;
  return Operand{expr};
}

Value BodyChecker::randomOp(Builtin id, const BoundArguments &args, SourceRange range) {
  std::string what = id == Builtin::philox_ ? "`philox`" : "`uniform`";
  Operand seed = checkScalar(args.values[0], "the seed of " + what),
          counter = checkValue(args.values[1], "the counter of " + what);
  int64_t bits = 32;
  if (args.values[2]) {
    auto given = checkConstInt(args.values[2], "`bits`");
    if (!given)
      return {};
    bits = *given;
    if (bits != 32 && bits != 16 && bits != 8) {
      error(args.values[2]->range, "`bits` is " + std::to_string(bits) + ", expected 32, 16 or 8");
      return {};
    }
  }
  if (!seed || !counter)
    return {};
  if (!isInt(seed.dtype()) || !isInt(counter.dtype())) {
    const Operand &wrong = isInt(seed.dtype()) ? counter : seed;
    error(wrong.expr->range, std::string(isInt(seed.dtype()) ? "the counter" : "the seed") + " of " + what +
                                 " must be an integer, found " + toString(wrong.type()));
    return {};
  }
  seed = seed.literal ? ops.require(seed, DType::U64, "the seed of " + what)
                      : ops.convert(seed, DType::U64, seed.expr->range);
  counter = counter.literal ? ops.require(counter, DType::Index, "the counter of " + what)
                            : ops.convert(counter, DType::Index, counter.expr->range);
  if (!seed || !counter)
    return {};
  DType raw = bits == 32 ? DType::U32 : bits == 16 ? DType::U16 : DType::U8;
  auto expr = make(id == Builtin::philox_ ? Op::Philox : Op::Uniform,
                   tileType(id == Builtin::philox_ ? raw : DType::F32, counter.type().shape),
                   {seed.expr, counter.expr}, range);
  expr->ints = {bits};
  return Operand{expr};
}

} // namespace tilegym::sem
