// SPDX-License-Identifier: MIT
// Sort, top-k and histogram. Order: NaN last whichever way, -0 equals +0, equals stay in their order.
#include "compiler/interpreter/Broadcast.h"
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/NumericsElement.h"
#include <algorithm>
#include <numeric>

namespace tilegym::interp {

namespace {

template <class T> bool precedes(T a, T b, bool descending) {
  if constexpr (std::is_floating_point_v<T>)
    if (a != a || b != b)
      return a == a;
  return descending ? b < a : a < b;
}

/// Calls visit(line number, element offset of the line, its sorted positions) for every line along an axis.
template <DType type, class Visit> void sortLines(const Value &from, int axis, bool descending, Visit visit) {
  using E = Element<type>;
  const auto *data = from.as<typename E::Storage>();
  const int64_t length = from.shape[axis], outer = from.shape.product(0, axis),
                inner = from.shape.product(axis + 1, from.shape.rank());
  std::vector<typename E::Value> keys(static_cast<size_t>(length));
  std::vector<int64_t> order(static_cast<size_t>(length));
  for (int64_t line = 0; line < outer * inner; ++line) {
    const int64_t base = line / inner * length * inner + line % inner;
    for (int64_t k = 0; k < length; ++k)
      keys[size_t(k)] = E::load(data[base + k * inner]);
    std::iota(order.begin(), order.end(), int64_t(0));
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      auto x = keys[size_t(a)], y = keys[size_t(b)];
      if (precedes(x, y, descending))
        return true;
      return !precedes(y, x, descending) && a < b;
    });
    visit(line, base, inner, order);
  }
}

} // namespace

Value Evaluator::sortOp(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  Value result(from.dtype, from.shape);
  forDType(from.dtype, [&]<DType type>() {
    using Storage = typename Element<type>::Storage;
    sortLines<type>(from, int(e.index), e.reverse,
                    [&](int64_t, int64_t base, int64_t step, const std::vector<int64_t> &order) {
                      for (size_t k = 0; k < order.size(); ++k)
                        result.as<Storage>()[base + int64_t(k) * step] =
                            from.as<Storage>()[base + order[k] * step];
                    });
  });
  return result;
}

Slot Evaluator::topK(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  const int axis = int(e.index);
  const int64_t k = e.ints.at(0);
  if (k > from.shape[axis])
    fail(Fault::Arguments,
         "topk of " + std::to_string(k) + " along an axis of extent " + std::to_string(from.shape[axis]),
         e.range);
  Shape shape = from.shape;
  shape[axis] = k;
  Value values(from.dtype, shape), indices(DType::Index, shape);
  forDType(from.dtype, [&]<DType type>() {
    using Storage = typename Element<type>::Storage;
    sortLines<type>(
        from, axis, true, [&](int64_t line, int64_t base, int64_t step, const std::vector<int64_t> &order) {
          const int64_t to = line / step * k * step + line % step;
          for (int64_t i = 0; i < k; ++i) {
            values.as<Storage>()[to + i * step] = from.as<Storage>()[base + order[size_t(i)] * step];
            indices.as<int64_t>()[to + i * step] = order[size_t(i)];
          }
        });
  });
  auto tuple = std::make_shared<Tuple>();
  tuple->elements = {std::move(values), std::move(indices)};
  return std::shared_ptr<const Tuple>(std::move(tuple));
}

Value Evaluator::histogram(const sem::Expr &e) {
  Value from = value(*e.operands[0]);
  const int64_t bins = e.ints.at(0);
  Value result(DType::I32, Shape{bins});
  std::fill_n(result.as<int32_t>(), bins, 0);
  for (int64_t i = 0; i < from.count(); ++i) {
    int64_t bin = from.intAt(i);
    if (bin >= 0 && bin < bins)
      ++result.as<int32_t>()[bin];
  }
  return result;
}

} // namespace tilegym::interp
