// SPDX-License-Identifier: MIT
// Strips of columns kept in vector registers; each element is summed in the order of k, in one build for every machine and one for AVX2.
#include "compiler/interpreter/Gemm.h"
#include "compiler/interpreter/Parallel.h"

#if defined(__x86_64__) && defined(__clang__)
#define TILEGYM_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define TILEGYM_WIDE
#endif

namespace tilegym::interp {
namespace {

constexpr int64_t stripWidth = 16, blockRows = 4;

/// Rows [0, Rows) of one strip of `stripWidth` columns; b is packed, k rows of the strip.
template <class T, int64_t Rows>
[[gnu::always_inline]] inline void strip(int64_t k, const T *a, int64_t aStep, const T *packed,
                                         T (*c)[stripWidth], int64_t chunk) {
  typedef T Vector __attribute__((vector_size(32)));
  constexpr int64_t lanes = 32 / sizeof(T), vectors = stripWidth / lanes;
  Vector total[Rows][vectors];
  __builtin_memcpy(total, c, sizeof total);
  const int64_t step = chunk ? chunk : k;
  for (int64_t from = 0; from < k; from += step) {
    const int64_t to = from + step < k ? from + step : k;
    Vector sum[Rows][vectors] = {};
    if (!chunk)
      __builtin_memcpy(sum, total, sizeof sum);
    for (int64_t i = from; i < to; ++i) {
      Vector row[vectors];
      __builtin_memcpy(row, packed + i * stripWidth, sizeof row);
      for (int64_t r = 0; r < Rows; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          sum[r][v] += a[r * aStep + i] * row[v];
    }
    for (int64_t r = 0; r < Rows; ++r)
      for (int64_t v = 0; v < vectors; ++v)
        total[r][v] = chunk ? total[r][v] + sum[r][v] : sum[r][v];
  }
  __builtin_memcpy(c, total, sizeof total);
}

// The only functions built twice. They call nothing but the template above: clang does not emit templates that only a clone uses.
TILEGYM_WIDE void blockOf(int64_t k, const float *a, const float *packed, float (*c)[stripWidth],
                          int64_t chunk) {
  strip<float, blockRows>(k, a, k, packed, c, chunk);
}
TILEGYM_WIDE void blockOf(int64_t k, const double *a, const double *packed, double (*c)[stripWidth],
                          int64_t chunk) {
  strip<double, blockRows>(k, a, k, packed, c, chunk);
}
TILEGYM_WIDE void blockOf(int64_t k, const uint32_t *a, const uint32_t *packed, uint32_t (*c)[stripWidth],
                          int64_t chunk) {
  strip<uint32_t, blockRows>(k, a, k, packed, c, chunk);
}
TILEGYM_WIDE void blockOf(int64_t k, const uint64_t *a, const uint64_t *packed, uint64_t (*c)[stripWidth],
                          int64_t chunk) {
  strip<uint64_t, blockRows>(k, a, k, packed, c, chunk);
}

/// One strip of columns: b is packed once for all rows.
template <class T>
void columns(int64_t m, int64_t n, int64_t k, const T *a, const T *b, T *c, int64_t first, int64_t chunk) {
  const int64_t width = std::min(stripWidth, n - first);
  std::vector<T> packed(size_t(std::max<int64_t>(k, 1) * stripWidth), T(0));
  for (int64_t i = 0; i < k; ++i)
    std::copy_n(b + i * n + first, width, packed.data() + i * stripWidth);
  for (int64_t row = 0; row < m; row += blockRows) {
    const int64_t rows = std::min(blockRows, m - row);
    T block[blockRows][stripWidth] = {};
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(c + (row + r) * n + first, width, block[r]);
    if (rows == blockRows)
      blockOf(k, a + row * k, packed.data(), block, chunk);
    else
      for (int64_t r = 0; r < rows; ++r)
        strip<T, 1>(k, a + (row + r) * k, k, packed.data(), block + r, chunk);
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(block[r], width, c + (row + r) * n + first);
  }
}

} // namespace

template <class T>
void gemm(int64_t m, int64_t n, int64_t k, const T *a, const T *b, T *c, int64_t chunk, unsigned threads) {
  const int64_t strips = (n + stripWidth - 1) / stripWidth;
  const bool small = m * n * k < (int64_t(1) << 20);
  parallelFor(strips, small ? 1 : threads,
              [&](int64_t s) { columns(m, n, k, a, b, c, s * stripWidth, chunk); });
}

template void gemm(int64_t, int64_t, int64_t, const float *, const float *, float *, int64_t, unsigned);
template void gemm(int64_t, int64_t, int64_t, const double *, const double *, double *, int64_t, unsigned);
template void gemm(int64_t, int64_t, int64_t, const uint32_t *, const uint32_t *, uint32_t *, int64_t,
                   unsigned);
template void gemm(int64_t, int64_t, int64_t, const uint64_t *, const uint64_t *, uint64_t *, int64_t,
                   unsigned);

} // namespace tilegym::interp
