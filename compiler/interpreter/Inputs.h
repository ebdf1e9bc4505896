// SPDX-License-Identifier: MIT
// The inputs of a test case: made from its generators and its name alone, so every backend, run and machine gets the same ones.
#pragma once
#include "compiler/interpreter/Interpreter.h"
#include "compiler/semantics/TestCalls.h"

namespace tilegym::interp {

/// How the elements of a generated tensor lie in memory. The values are the same.
enum class Spread : uint8_t {
  Dense,      ///< contiguous, row-major
  Padded,     ///< every axis apart from the next by a few elements, and a base that is one element off
  Strided,    ///< every second element along the last axis
  Transposed, ///< the last two axes swapped in memory
};

/// Elements as a generator of the test section says, rounded to the dtype; equal seeds give equal elements. Null, with
/// `error` set, where it cannot be followed for this shape.
std::optional<HostTensor> generate(DType type, const Dims &shape, const sem::Filling &filling, uint64_t seed,
                                   std::string &error);

/// The tensor with the same values in other strides, in a buffer of its own whose unused elements are `fill` bytes.
HostTensor respread(const HostTensor &tensor, Spread spread, std::byte fill = std::byte{0xff});

/// Everything a run of the case needs. Outputs are left for the run to allocate.
std::optional<Arguments> makeInputs(const sem::OpModel &op, const sem::TestCall &test, Spread spread,
                                    std::vector<Fault> &faults);

/// A literal as a tensor of the shape, each value rounded to the dtype; null where the shapes differ. An empty literal leaves the
/// extents inside it open.
std::optional<HostTensor> literalTensor(DType type, const Dims &shape, const sem::LiteralTensor &literal);

/// FNV-1a: seeds come from names, so they are the same everywhere.
uint64_t hashName(std::string_view text, uint64_t start = 0xcbf29ce484222325);

} // namespace tilegym::interp
