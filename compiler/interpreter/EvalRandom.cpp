// SPDX-License-Identifier: MIT
// Random numbers: each element is a function of seed and counter alone.
#include "compiler/interpreter/Evaluator.h"
#include "compiler/interpreter/NumericsConvert.h"
#include "compiler/interpreter/NumericsRandom.h"

namespace tilegym::interp {

Value Evaluator::random(const sem::Expr &e) {
  Value seed = value(*e.operands[0]), counter = value(*e.operands[1]);
  const unsigned bits = e.ints.empty() ? 32 : unsigned(e.ints[0]);
  const bool isUniform = e.op == sem::Op::Uniform;
  PhiloxStream stream(uint64_t(seed.asInt()), bits);
  Value result(isUniform ? DType::F32 : philoxType(bits), counter.shape);
  for (int64_t i = 0; i < counter.count(); ++i) {
    const uint64_t c = uint64_t(counter.intAt(i));
    if (isUniform) {
      result.as<float>()[i] = stream.uniformAt(c);
    } else {
      uint32_t field = stream.at(c);
      std::memcpy(result.data() + i * int64_t(result.elementSize()), &field, result.elementSize());
    }
  }
  if (result.dtype == e.type.dtype)
    return result;
  Value wide(e.type.dtype, result.shape); // a widened reference
  convert(result.dtype, {result.data(), 1}, wide.dtype, wide.data(), size_t(result.count()));
  return wide;
}

} // namespace tilegym::interp
