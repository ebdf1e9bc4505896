// SPDX-License-Identifier: MIT
// The tolerance rule of the language: |got - want| <= r |want| + r a, with a the root mean square of `want` along
// its last axis (over its finite elements); a pair (rtol, atol) is |got - want| <= rtol |want| + atol, and atol may be a formula of the call's dims; 0 is
// bit-equal. Where anything is allowed, one step between the dtype's subnormals is: below them rounding is coarser
// than r. NaN wants NaN, infinity wants the same infinity. What differs is described with numbers: first and worst
// element, got, want, ulp, how many.
#pragma once
#include "compiler/interpreter/HostTensor.h"
#include "compiler/semantics/CallBinding.h"
#include "compiler/semantics/TestModel.h"
#include <optional>
#include <string>

namespace tilegym::interp {

struct Tolerance {
  double relative = 0;
  double absolute = 0; ///< times the root mean square where `scaled`
  bool scaled = true;
  bool isExact() const { return relative == 0 && absolute == 0; }
};

/// What the spec's table says for an output of a call: keyed by the op's dtype name, else by the output's dtype. Integer outputs are bit-equal
/// where the op has a dtype name.
Tolerance toleranceFor(const sem::OpModel &op, const sem::TestModel &model, const sem::BoundCall &call,
                       DType output);
/// The dtype that keys it there; integers under the op's dtype name have none.
std::optional<DType> toleranceDType(const sem::OpModel &op, const sem::Specialization &interface,
                                    DType output);

/// Distance between two values of one dtype in steps of its grid (1: neighbours); for integers the difference. NaN is far from all
/// but NaN.
uint64_t ulpDistance(DType type, uint64_t a, uint64_t b);

struct Mismatch {
  struct Element {
    std::vector<int64_t> index;
    double got = 0, want = 0;
    uint64_t gotBits = 0, wantBits = 0;
    uint64_t ulp = 0;
    double allowed = 0; ///< how far `got` may be from `want`
  };
  std::string tensor;
  DType dtype = DType::F32;
  Element first, worst;
  int64_t count = 0, total = 0;
  std::string shape; ///< instead of elements where the shapes differ already
};

/// Null where `got` agrees with `want`: shape, and every element within the tolerance. `used`, where given, is raised to the largest
/// error, as a part of what is allowed there; an exact comparison has none.
std::optional<Mismatch> compareTensors(const std::string &name, const HostTensor &got, const HostTensor &want,
                                       const Tolerance &tolerance, double *used = nullptr);

/// Several lines: `y f16[7, 63]: 3 of 441 elements differ`, then first and worst.
std::string describe(const Mismatch &mismatch);

/// An element as a spec would write it, with enough digits to tell neighbours apart.
std::string valueText(DType type, uint64_t bits);

} // namespace tilegym::interp
