// SPDX-License-Identifier: MIT
// cuBLASLt, opened at run time where there is one, and never needed: as the backend `vendor`, and as what benchmarks stand beside.
#pragma once
#include "Driver.h"
#include <string>

namespace tilegym::runtime {

/// c = a @ b (+ bias to each row) for each of a batch, c's rows contiguous. Of a and b either rows or columns are.
struct ProductShape {
  uint8_t typeA = 0, typeB = 0, typeC = 0; ///< DTypes' numbers
  bool columnsA = false, columnsB = false; ///< columns are contiguous
  bool hasBias = false;
  int alignment = 256; ///< all addresses are multiples of it
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int64_t leadA = 0, leadB = 0, leadC = 0;       ///< elements from one row (or column) to the next
  int64_t strideA = 0, strideB = 0, strideC = 0; ///< of the batch
  bool operator==(const ProductShape &) const = default;
};

/// The library's functions, by their own signatures.
struct CublasLt {
  int (*create)(void **) = nullptr;
  int (*descriptionCreate)(void **, int compute, int scale) = nullptr;
  int (*descriptionSet)(void *, int, const void *, size_t) = nullptr;
  int (*descriptionDestroy)(void *) = nullptr;
  int (*layoutCreate)(void **, int type, uint64_t rows, uint64_t columns, int64_t leading) = nullptr;
  int (*layoutSet)(void *, int, const void *, size_t) = nullptr;
  int (*layoutDestroy)(void *) = nullptr;
  int (*preferenceCreate)(void **) = nullptr;
  int (*preferenceSet)(void *, int, const void *, size_t) = nullptr;
  int (*preferenceDestroy)(void *) = nullptr;
  int (*heuristic)(void *, void *, void *, void *, void *, void *, void *, int, void *results,
                   int *) = nullptr;
  int (*multiply)(void *, void *, const void *alpha, const void *a, void *, const void *b, void *,
                  const void *beta, const void *c, void *, void *d, void *, const void *algorithm,
                  void *workspace, size_t, CUstream) = nullptr;

  /// Opened once; `alsoTry` is a path to try after the library's own names. Null, with `lacking` set, where there is none.
  static const CublasLt *open(const std::string &alsoTry, std::string &lacking);
  /// Its handle for a device, whose context is current; null, with `lacking` set, where it does not start.
  void *handle(int device, std::string &lacking) const;
};

/// A product that the library has chosen an algorithm for. Calls of one plan must follow each other.
class ProductPlan {
public:
  ProductPlan() = default;
  ProductPlan(const ProductPlan &) = delete;
  ProductPlan &operator=(const ProductPlan &) = delete;
  ~ProductPlan();

  /// False, with `lacking` set, where the library does not take it.
  bool make(const CublasLt &library, int device, const ProductShape &shape, size_t workspaceLimit,
            std::string &lacking);
  const ProductShape &shape() const { return product; }
  /// Bytes that `run` needs.
  size_t workspace() const { return workspaceBytes; }
  /// The library's status. `workspace` has as many bytes as were asked for.
  int run(const void *a, const void *b, const void *bias, void *c, void *workspace, CUstream stream) const;

private:
  const CublasLt *library = nullptr;
  void *handle = nullptr, *description = nullptr, *first = nullptr, *second = nullptr, *result = nullptr;
  ProductShape product;
  uint64_t algorithm[8] = {};
  size_t workspaceBytes = 0;
};

} // namespace tilegym::runtime
