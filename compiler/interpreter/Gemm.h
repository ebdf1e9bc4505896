// SPDX-License-Identifier: MIT
// The inner product loops of mma and `@`.
#pragma once
#include <cstdint>

namespace tilegym::interp {

/// c[m, n] += a[m, k] * b[k, n], row-major and contiguous. Every product and every sum is rounded (or wraps); k runs upwards, from c where
/// `chunk` is 0; else partial sums of `chunk` products, each from zero, are added to c in turn, which keeps long sums accurate.
template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const T *a, const T *b, T *c, int64_t chunk, unsigned threads);
extern template void gemm(int64_t, int64_t, int64_t, const float *, const float *, float *, int64_t,
                          unsigned);
extern template void gemm(int64_t, int64_t, int64_t, const double *, const double *, double *, int64_t,
                          unsigned);
extern template void gemm(int64_t, int64_t, int64_t, const uint32_t *, const uint32_t *, uint32_t *, int64_t,
                          unsigned);
extern template void gemm(int64_t, int64_t, int64_t, const uint64_t *, const uint64_t *, uint64_t *, int64_t,
                          unsigned);

} // namespace tilegym::interp
