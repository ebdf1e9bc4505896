/* SPDX-License-Identifier: MIT
 * cuBLASLt as the backend `vendor` of ops that are a product of matrices. It is opened when the first call needs it (libcublasLt.so.13 or .12, or what
 * TILEGYM_CUBLASLT names), and never linked. Where it is missing, or does not take a call, `tile` runs it. */
#ifndef TILEGYM_VENDOR_H
#define TILEGYM_VENDOR_H
#include "tilegym/tilegym.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The op of this name is c = a @ b (+ bias, to each row), of the last two axes, or of a group of rows and the last one; with three axes for each of a batch.
 * Numbers are those of arguments, -1 for none. `turn_a`: it is a's transpose that is multiplied. Calls where const number `plain` is not `plain_value`
 * are something else. */
typedef struct TilegymProduct {
  const char *op;
  int32_t a, b, bias, c;
  /* NOLINTBEGIN(readability-identifier-naming): as C writes names of two words */
  int32_t turn_a, turn_b;
  int32_t plain;
  int64_t plain_value;
  /* NOLINTEND(readability-identifier-naming) */
} TilegymProduct;

/* Registers them for `vendor`. Generated headers of packages with such ops have NAME_add_vendor(), which calls this. `products` is copied. */
TilegymStatus tilegym_add_vendor(const TilegymProduct *products, size_t count);

/* Memory of the current GPU for what this thread's calls need besides their tensors, in the order of its stream: cuBLASLt's workspace. Without it, or where it is
 * too small, such memory comes from the driver's pool in the order of the stream, and goes back there. NULL takes it back. */
void tilegym_set_workspace(void *data, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
