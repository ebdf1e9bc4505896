// SPDX-License-Identifier: MIT
// The inputs of a test case: made from its rules and its name alone, so every backend, run and machine gets the same ones.
#pragma once
#include "compiler/interpreter/TestCases.h"

namespace tilegym::interp {

/// How the elements of a generated tensor lie in memory. The values are the same.
enum class Spread : uint8_t {
  Dense,      ///< contiguous, row-major
  Padded,     ///< rows apart by a few elements, and a base that is one element off
  Strided,    ///< every second element along the last axis
  Transposed, ///< the last two axes swapped in memory
};

/// Elements by the rule (of a list: of its tensor number `element`), rounded to the dtype; equal seeds give equal elements. Null, with `error` set, where a rule cannot be
/// followed for this shape.
std::optional<HostTensor> generate(DType type, const Dims &shape, const InputRule &rule, uint64_t seed,
                                   std::string &error, size_t element = 0);

/// The tensor with the same values in other strides, in a buffer of its own whose unused elements are `fill` bytes.
HostTensor respread(const HostTensor &tensor, Spread spread, std::byte fill = std::byte{0xff});

/// Everything a run of the case needs. Outputs are left for the run to allocate.
std::optional<Arguments> makeInputs(const sem::OpModel &op, const TestCase &test, Spread spread,
                                    std::vector<Fault> &faults);

/// A literal as a tensor, each value rounded to the dtype.
HostTensor literalTensor(DType type, const sem::LiteralTensor &literal);

} // namespace tilegym::interp
