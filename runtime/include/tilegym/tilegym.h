/* SPDX-License-Identifier: MIT
 * The C interface of the tilegym runtime. A generated library has one function an op, declared in its own
 * header; each passes its arguments here. No exceptions, no C++ types; every function may be called from any
 * thread. */
#ifndef TILEGYM_TILEGYM_H
#define TILEGYM_TILEGYM_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TILEGYM_ABI_VERSION 1
#define TILEGYM_MAX_RANK 8

typedef enum TilegymDType {
  TILEGYM_F64,
  TILEGYM_F32,
  TILEGYM_F16,
  TILEGYM_BF16,
  TILEGYM_F8E4M3,
  TILEGYM_F8E5M2,
  TILEGYM_I8,
  TILEGYM_I16,
  TILEGYM_I32,
  TILEGYM_I64,
  TILEGYM_U8,
  TILEGYM_U16,
  TILEGYM_U32,
  TILEGYM_U64,
  TILEGYM_BOOL
} TilegymDType;

typedef enum TilegymStatus {
  TILEGYM_OK = 0,
  TILEGYM_INVALID_ARGUMENT = 1, /* the call is wrong: shape, stride, dtype, alignment, overlap, null ... */
  TILEGYM_NO_DRIVER = 2,        /* no CUDA driver, or one that is too old */
  TILEGYM_NO_DEVICE = 3,        /* no GPU, or no current context could be made */
  TILEGYM_NO_IMAGE = 4,         /* the package holds no code for this GPU */
  TILEGYM_NO_VARIANT = 5,       /* the package lacks the variant (dtypes, consts ...) that the call needs */
  TILEGYM_BAD_PACKAGE = 6,      /* truncated, altered, or of another version */
  TILEGYM_CUDA_ERROR = 7,       /* the driver refused something; the text has its name */
  TILEGYM_UNAVAILABLE = 8,      /* the backend in use cannot run this */
  TILEGYM_OUT_OF_MEMORY = 9     /* of the host */
} TilegymStatus;

/* A view of device memory. `strides` are in elements and may be 0 or negative; NULL means row-major
 * contiguous. `shape` and `strides` have `rank` entries. */
typedef struct TilegymTensor {
  void *data;
  const int64_t *shape;
  const int64_t *strides;
  int32_t rank;
  int32_t dtype; /* TilegymDType */
} TilegymTensor;

/* A package: embedded in the program (its address) or loaded from a file. */
typedef struct TilegymPackage TilegymPackage;

/* Opens the block at `data` (which must stay alive and unchanged) or a file. Checks it whole, loads nothing
 * to a GPU. */
TilegymStatus tilegym_package_open(const void *data, size_t size, TilegymPackage **out);
TilegymStatus tilegym_package_open_file(const char *path, TilegymPackage **out);
/* The package embedded in the program at `data`, opened once and kept in `*slot` (for the generated code). */
TilegymStatus tilegym_embedded(const void *data, size_t size, TilegymPackage **slot);
void tilegym_package_close(TilegymPackage *package);
size_t tilegym_package_num_ops(const TilegymPackage *package);
const char *tilegym_package_op_name(const TilegymPackage *package, size_t op);

/* Calls op number `op`. `args` has one entry an argument of the op's signature (inputs, scalars, consts in
 * order, then outputs): a `const TilegymTensor *` (NULL for an optional one left out) or a pointer to the
 * scalar's value (NULL for its default; consts are int64_t, enum consts the name's number). `stream` is a
 * CUstream/cudaStream_t of the current context (or NULL). Asynchronous; allocates no device memory; can be
 * captured into a CUDA graph once the op is loaded (tilegym_prepare). */
TilegymStatus tilegym_call(TilegymPackage *package, size_t op, const void *const *args, void *stream);

/* Computes the shape of output argument number `arg` for these arguments (outputs may be NULL in `args`). */
TilegymStatus tilegym_infer_shape(TilegymPackage *package, size_t op, const void *const *args, size_t arg,
                                  int64_t shape[TILEGYM_MAX_RANK], int32_t *rank, int32_t *dtype);

/* Loads what the call would need, without launching. */
TilegymStatus tilegym_prepare(TilegymPackage *package, size_t op, const void *const *args);

/* Which variant a call would take on the current GPU, as text: entry name, knobs, facts; where there is none, on the GPUs that the
 * package was compiled for. The text lives until the thread's next call. */
TilegymStatus tilegym_explain(TilegymPackage *package, size_t op, const void *const *args, const char **text);

/* Memory of the current GPU (with the reference backend: of the host), in the stream's order: work enqueued later may use it at
 * once, and it is given back when what was enqueued before the free has run. Nothing for 0 bytes. A stream that is being
 * captured takes both as nodes of its graph. */
TilegymStatus tilegym_allocate(size_t bytes, void *stream, void **out);
TilegymStatus tilegym_free(void *data, void *stream);

/* What went wrong in this thread's last failed call: op, argument, found, expected. Never NULL. */
const char *tilegym_last_error(void);

#ifdef __cplusplus
}
#endif
#endif
