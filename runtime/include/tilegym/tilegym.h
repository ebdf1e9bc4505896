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
#define TILEGYM_VERSION "0.1.0"
#define TILEGYM_MAX_RANK 8
#define TILEGYM_MAX_LIST 64 /* tensors of a list argument */

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

/* The tensors of a list argument: `count` of them, one after another. */
typedef struct TilegymTensorList {
  const TilegymTensor *tensors;
  size_t count;
} TilegymTensorList;

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
 * order, then outputs): a `const TilegymTensor *` (NULL for an optional one left out), a
 * `const TilegymTensorList *` (at most TILEGYM_MAX_LIST tensors; what `tensors` points to is read during the call alone), or a pointer to the
 * scalar's value (NULL for its default; consts are int64_t, enum consts the name's number). `stream` is a
 * CUstream/cudaStream_t of the current context (or NULL). Asynchronous; allocates no device memory but the stream-ordered scratch memory of ops that need some; can be
 * captured into a CUDA graph once the op is loaded (tilegym_prepare). */
TilegymStatus tilegym_call(TilegymPackage *package, size_t op, const void *const *args, void *stream);

/* As tilegym_call, with memory for the op's intermediate results: at least as many bytes as tilegym_workspace_size says for these
 * arguments, at an address that is a multiple of 256. Nothing else may use it until what this call enqueues has run. Without a workspace (null, or
 * tilegym_call) ops that need one take it for each call from the driver's stream-ordered pool. */
TilegymStatus tilegym_call_with_workspace(TilegymPackage *package, size_t op, const void *const *args,
                                          void *stream, void *workspace, size_t bytes);
TilegymStatus tilegym_workspace_size(TilegymPackage *package, size_t op, const void *const *args,
                                     size_t *bytes);

/* Programmatic dependent launch, for this thread's calls from now on (default: 0, off): a kernel may start, up to its first access to memory, while the
 * kernel before it in the stream still runs, and then waits until that one has ended. Results are the same; between short kernels it saves a microsecond
 * or so. GPUs before compute capability 9.0 launch as ever. Returns what it was. The launches of one call always do so among themselves. */
int32_t tilegym_set_early_launch(int32_t on);

/* Computes the shape of output argument number `arg` for these arguments (outputs may be NULL in `args`). */
TilegymStatus tilegym_infer_shape(TilegymPackage *package, size_t op, const void *const *args, size_t arg,
                                  int64_t shape[TILEGYM_MAX_RANK], int32_t *rank, int32_t *dtype);

/* The same of an output that is a list: how many tensors it has, and the shape of tensor number `element`, where it has so many. */
TilegymStatus tilegym_infer_list(TilegymPackage *package, size_t op, const void *const *args, size_t arg,
                                 size_t element, size_t *count, int64_t shape[TILEGYM_MAX_RANK],
                                 int32_t *rank, int32_t *dtype);

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
/* "INVALID_ARGUMENT" for TILEGYM_INVALID_ARGUMENT; "UNKNOWN" for a number that is no status. */
const char *tilegym_status_name(int32_t status);

/* TILEGYM_ABI_VERSION of the runtime that is linked, to compare with that of the header. It grows when a function or a structure of this
 * file changes; new functions alone leave it. */
uint32_t tilegym_abi_version(void);
/* The runtime's version, "0.1.0". */
const char *tilegym_version(void);

/* Backends: who runs a call. `tile` are the package's kernels; `reference` is the interpreter of the specs, on host memory (tilegym/reference.h);
 * `vendor` is cuBLASLt, opened at run time, for ops that are a product of matrices; all other names are the caller's own. A call goes to the
 * backend that it names (tilegym_call_on), else to its thread's, else to the process's, which is `tile` at first.
 *
 * Where a backend does not have the op, or does not take the call, `tile` runs it, after one warning an op and backend; with
 * TILEGYM_DISABLE_FALLBACK=1 in the environment it is an error, TILEGYM_UNAVAILABLE. The reference backend's memory is the host's, so what it lacks is
 * always an error. */
enum {
  TILEGYM_BACKEND_DEFAULT = -1, /* the thread's or the process's */
  TILEGYM_BACKEND_TILE = 0,
  TILEGYM_BACKEND_REFERENCE = 1,
  TILEGYM_BACKEND_VENDOR = 2,
  TILEGYM_MAX_BACKENDS = 16
};

/* The number of the backend with this name; TILEGYM_BACKEND_DEFAULT where there is none. */
int32_t tilegym_backend(const char *name);
/* NULL where there is no such number. */
const char *tilegym_backend_name(int32_t backend);
/* For all threads that have none of their own. */
TilegymStatus tilegym_set_backend(int32_t backend);
/* For this thread, until it is set again; TILEGYM_BACKEND_DEFAULT: none of its own. `*previous` (may be NULL) becomes what was set. */
TilegymStatus tilegym_set_thread_backend(int32_t backend, int32_t *previous);
/* The one that this thread's next call goes to. */
int32_t tilegym_current_backend(void);
/* tilegym_call on this backend, whatever the thread's is. */
TilegymStatus tilegym_call_on(TilegymPackage *package, size_t op, const void *const *args, void *stream,
                              int32_t backend);

/* Runs a call of a backend; `args` have been checked against the op as tilegym_call checks them, but where tensors lie was not looked at. It may return
 * TILEGYM_UNAVAILABLE as long as it has done nothing: then `tile` runs the call. Any other failure is the call's; tilegym_set_error gives its text. */
typedef TilegymStatus (*TilegymImpl)(void *user, TilegymPackage *package, size_t op, const void *const *args,
                                     void *stream);
/* From now on `impl` is what `backend` does for ops of this name, of every package, in place of what it did. A new name makes a backend. NULL takes it
 * back; calls that are under way may still reach the old one. `tile` and `reference` cannot be replaced. */
TilegymStatus tilegym_register_impl(const char *op, const char *backend, TilegymImpl impl, void *user);
/* Makes `text` this thread's last error. */
void tilegym_set_error(const char *text);

/* TILEGYM_OK where the backend has the op and, with `args` (else NULL), would take the call, on the current GPU. Loads and launches nothing. Otherwise the
 * status that a call would fail with, and its text. */
TilegymStatus tilegym_available(TilegymPackage *package, size_t op, const void *const *args, int32_t backend);

/* What there is, as text for people (TILEGYM_TEXT) or as JSON: versions, driver and GPU, backends, what was registered; of a package (may be NULL) its
 * ops with their signatures, the architectures and dtypes that each has code for, and the backends that have it. The text lives until the thread's next
 * call of this function. */
enum { TILEGYM_TEXT = 0, TILEGYM_JSON = 1 };
TilegymStatus tilegym_describe(TilegymPackage *package, int32_t form, const char **text);

/* What is logged: fallbacks and code that the driver has to compile (warning, the default), what is loaded (info), why calls failed (debug).
 * TILEGYM_LOG=off|warning|info|debug in the environment sets it, too. */
enum { TILEGYM_LOG_OFF = 0, TILEGYM_LOG_WARNING = 1, TILEGYM_LOG_INFO = 2, TILEGYM_LOG_DEBUG = 3 };
void tilegym_set_log_level(int32_t level);
/* Where it goes: one line a call, without its end. NULL: standard error. `sink` may be called by several threads at once, and must not call the runtime. */
typedef void (*TilegymLog)(void *user, int32_t level, const char *text);
void tilegym_set_log(TilegymLog sink, void *user);

#ifdef __cplusplus
}
#endif
#endif
