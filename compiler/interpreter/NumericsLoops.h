// SPDX-License-Identifier: MIT
// The loops under the elementwise operations: load, apply, store, with a fast case where every operand walks
// by one.
#pragma once

#include "compiler/interpreter/NumericsConvert.h"
#include "compiler/interpreter/NumericsElement.h"

namespace tilegym::interp::detail {

/// Reads operand elements of one dtype.
template <DType type> struct Reader {
  const typename Element<type>::Storage *data;
  ptrdiff_t step;
  explicit Reader(Source source)
      : data(static_cast<const typename Element<type>::Storage *>(source.data)), step(source.step) {}
  typename Element<type>::Value dense(size_t i) const { return Element<type>::load(data[i]); }
  typename Element<type>::Value operator()(size_t i) const {
    return Element<type>::load(data[static_cast<ptrdiff_t>(i) * step]);
  }
};

/// out[i] = store(fn(operands[i]...)).
template <class Out, class Store, class Fn, class... Readers>
void loop(Out *out, size_t count, Store store, Fn fn, const Readers &...readers) {
  if (((readers.step == 1) && ...)) {
    for (size_t i = 0; i < count; ++i)
      out[i] = store(fn(readers.dense(i)...));
    return;
  }
  for (size_t i = 0; i < count; ++i)
    out[i] = store(fn(readers(i)...));
}

/// The result has the operands' dtype and its compute type.
template <DType type, class Fn, class... Sources>
bool apply(void *out, size_t count, Fn fn, Sources... sources) {
  using E = Element<type>;
  loop(
      static_cast<typename E::Storage *>(out), count, [](auto value) { return E::store(value); }, fn,
      Reader<type>(sources)...);
  return true;
}

/// A float function computed in f64 and rounded once.
template <DType type, class Fn, class... Sources>
bool applyDouble(void *out, size_t count, Fn fn, Sources... sources) {
  using E = Element<type>;
  loop(
      static_cast<typename E::Storage *>(out), count, [](double value) { return E::storeDouble(value); },
      [fn](auto... values) { return fn(static_cast<double>(values)...); }, Reader<type>(sources)...);
  return true;
}

} // namespace tilegym::interp::detail
