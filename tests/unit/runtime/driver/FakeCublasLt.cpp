// SPDX-License-Identifier: MIT
// A cuBLASLt that multiplies on the host, in f32, as its interface says: column-major, with leading dimensions, transposes, batches and a bias. It wants a workspace
// of 4096 bytes for products of more than 64 columns, and has no algorithm for a k of 13.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

struct Description {
  int turn[2] = {}; ///< of the first and the second operand
  uint32_t epilogue = 1;
  const float *bias = nullptr;
};
struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t lead;
  int32_t batch = 1;
  int64_t stride = 0;
};
struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
int handle = 0;

float at(const Layout &l, const float *data, bool turned, int64_t row, int64_t column) {
  return turned ? data[column + row * l.lead] : data[row + column * l.lead];
}

} // namespace

extern "C" {

/// How many products were made, and the last one's workspace and alignment.
struct FakeProducts {
  int products, plans;
  void *workspace;
  uint32_t alignment;
} fakeProducts;

int cublasLtCreate(void **made) { return *made = &handle, 0; }
int cublasLtMatmulDescCreate(void **made, int compute, int) {
  return *made = new Description, compute == 68 ? 0 : 15;
}
int cublasLtMatmulDescDestroy(void *d) { return delete static_cast<Description *>(d), 0; }
int cublasLtMatmulDescSetAttribute(void *description, int number, const void *value, size_t size) {
  auto &d = *static_cast<Description *>(description);
  if (number == 3 || number == 4)
    std::memcpy(&d.turn[number - 3], value, size);
  else if (number == 7)
    std::memcpy(&d.epilogue, value, size);
  else if (number == 8)
    std::memcpy(&d.bias, value, size);
  else
    return 7;
  return 0;
}
int cublasLtMatrixLayoutCreate(void **made, int type, uint64_t rows, uint64_t columns, int64_t lead) {
  if (lead < int64_t(rows))
    return 7;
  *made = new Layout{type, rows, columns, lead};
  return 0;
}
int cublasLtMatrixLayoutDestroy(void *l) { return delete static_cast<Layout *>(l), 0; }
int cublasLtMatrixLayoutSetAttribute(void *layout, int number, const void *value, size_t size) {
  auto &l = *static_cast<Layout *>(layout);
  if (number == 5)
    std::memcpy(&l.batch, value, size);
  else
    std::memcpy(&l.stride, value, size);
  return 0;
}
int cublasLtMatmulPreferenceCreate(void **made) { return *made = &handle, 0; }
int cublasLtMatmulPreferenceDestroy(void *) { return 0; }
int cublasLtMatmulPreferenceSetAttribute(void *, int number, const void *value, size_t size) {
  if (number >= 5)
    std::memcpy(&fakeProducts.alignment, value, size);
  return 0;
}
int cublasLtMatmulAlgoGetHeuristic(void *, void *description, void *first, void *, void *, void *result,
                                   void *, int, Heuristic *best, int *count) {
  const auto &f = *static_cast<Layout *>(first);
  bool turned = static_cast<Description *>(description)->turn[0];
  ++fakeProducts.plans;
  best->workspace = static_cast<Layout *>(result)->rows > 64 ? 4096 : 0;
  *count = (turned ? f.rows : f.columns) != 13;
  return 0;
}
int cublasLtMatmul(void *, void *description, const void *, const void *a, void *first, const void *b,
                   void *second, const void *, const void *, void *, void *d, void *result, const void *,
                   void *workspace, size_t size, void *) {
  const auto &l = *static_cast<Description *>(description);
  const auto &f = *static_cast<Layout *>(first), &s = *static_cast<Layout *>(second),
             &r = *static_cast<Layout *>(result);
  if (f.type != 0 || (size && !workspace))
    return 7;
  ++fakeProducts.products;
  fakeProducts.workspace = workspace;
  auto inner = int64_t(l.turn[0] ? f.rows : f.columns);
  for (int32_t n = 0; n < r.batch; ++n)
    for (int64_t row = 0; row < int64_t(r.rows); ++row)
      for (int64_t column = 0; column < int64_t(r.columns); ++column) {
        float sum = l.epilogue == 4 ? l.bias[row] : 0;
        for (int64_t k = 0; k < inner; ++k)
          sum += at(f, static_cast<const float *>(a) + n * f.stride, l.turn[0], row, k) *
                 at(s, static_cast<const float *>(b) + n * s.stride, l.turn[1], k, column);
        static_cast<float *>(d)[n * r.stride + row + column * r.lead] = sum;
      }
  return 0;
}

} // extern "C"
