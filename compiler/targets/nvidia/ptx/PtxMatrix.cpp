// SPDX-License-Identifier: MIT
// Verifiers and texts of matrix fragments, mma.sync and wgmma.
#include "compiler/targets/nvidia/ptx/AssemblyText.h"

using namespace mlir;
using namespace tilegym::ptx;

namespace {

bool isFloat8(ElementType type) { return type == ElementType::E4M3 || type == ElementType::E5M2; }
bool isInteger8(ElementType type) { return type == ElementType::S8 || type == ElementType::U8; }
bool isHalf(ElementType type) { return type == ElementType::F16 || type == ElementType::BF16; }

/// Elements along K of one 32-byte step: of wgmma, and the larger shape of mma.sync.
int64_t elementsOfStep(ElementType type) { return isHalf(type) ? 16 : type == ElementType::TF32 ? 8 : 32; }

/// The types that one instruction can multiply and add up in. `float8Half`: 8-bit floats can be summed in f16.
LogicalResult verifyTypes(Operation *op, ElementType a, ElementType b, ElementType sum, bool float8Half) {
  bool same = a == b && (isHalf(a) || a == ElementType::TF32);
  if (!same && !(isFloat8(a) && isFloat8(b)) && !(isInteger8(a) && isInteger8(b)))
    return op->emitOpError("multiplies ")
           << stringifyElementType(a) << " by " << stringifyElementType(b)
           << ", but can multiply f16, bf16 or tf32 by the same, e4m3 and e5m2, or s8 and u8";
  bool halfSum = sum == ElementType::F16 && (a == ElementType::F16 || (float8Half && isFloat8(a)));
  if (isInteger8(a) ? sum != ElementType::S32 : sum != ElementType::F32 && !halfSum)
    return op->emitOpError("adds products of ") << stringifyElementType(a) << " up in "
                                                << stringifyElementType(sum) << ", which no instruction does";
  return success();
}

LogicalResult verifyAccumulators(Operation *op, OperandRange accumulators, TypeRange results, ElementType sum,
                                 int64_t elements) {
  size_t expected = sum == ElementType::F16 ? elements / 2 : elements;
  if (accumulators.size() != expected)
    return op->emitOpError("has ") << accumulators.size() << " accumulators, but a thread holds " << expected
                                   << " registers of the " << stringifyElementType(sum) << " sum";
  Type type = sum == ElementType::F32 ? Type(Float32Type::get(op->getContext()))
                                      : IntegerType::get(op->getContext(), 32);
  if (TypeRange(accumulators) != results || llvm::any_of(results, [&](Type t) { return t != type; }))
    return op->emitOpError("has accumulators or results that are not of type ") << type;
  return success();
}

LogicalResult verifySaturation(Operation *op, bool saturate, ElementType a) {
  if (saturate && !isInteger8(a))
    return op->emitOpError("saturates a sum of ")
           << stringifyElementType(a) << " products, but only integer sums saturate";
  return success();
}

} // namespace

static LogicalResult verifyMatrices(Operation *op, size_t count) {
  if (count == 1 || count == 2 || count == 4)
    return success();
  return op->emitOpError("has ") << count << " matrices, but moves 1, 2 or 4";
}

/// `.m8n8.x4.trans.shared::cta.b16`
static std::string matricesSuffix(size_t count, bool transposed) {
  return ".sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".shared::cta.b16 ";
}

/// One matrix is in a vector of one, too.
static std::string braced(const std::string &registers) {
  return registers[0] == '{' ? registers : "{" + registers + "}";
}

LogicalResult LoadMatrixOp::verify() { return verifyMatrices(*this, getWords().size()); }
Assembly LoadMatrixOp::getAssembly() {
  AssemblyText i(*this);
  return i.text("ldmatrix", matricesSuffix(getWords().size(), getTransposed()), braced(i.results()), ", ",
                i.at(getAddress()), ";");
}

LogicalResult StoreMatrixOp::verify() { return verifyMatrices(*this, getWords().size()); }
Assembly StoreMatrixOp::getAssembly() {
  AssemblyText i(*this);
  return i.text("stmatrix", matricesSuffix(getWords().size(), getTransposed()), i.at(getAddress()), ", ",
                braced(i.vector(getWords())), ";");
}

LogicalResult MmaOp::verify() {
  ElementType a = getAType();
  if (failed(verifyTypes(*this, a, getBType(), getAccumulatorType(), /*float8Half=*/false)))
    return failure();
  int64_t whole = elementsOfStep(a);
  bool halved = getK() * 2 == whole && !isFloat8(a);
  if (getK() != whole && !halved) {
    auto error = emitOpError("has k ") << getK() << ", but k is " << whole;
    if (!isFloat8(a))
      error << " or " << whole / 2;
    return error << " for " << stringifyElementType(a);
  }
  size_t words = halved ? 2 : 4;
  if (getA().size() != words || getB().size() != words / 2)
    return emitOpError("has ") << getA().size() << " words of A and " << getB().size() << " of B, but k "
                               << getK() << " of " << stringifyElementType(a) << " is in " << words << " and "
                               << words / 2;
  if (failed(verifySaturation(*this, getSaturate(), a)))
    return failure();
  return verifyAccumulators(*this, getAccumulators(), getResultTypes(), getAccumulatorType(), 4);
}

Assembly MmaOp::getAssembly() {
  AssemblyText i(*this, AssemblyText::Ordered);
  std::string sum = "." + stringifyElementType(getAccumulatorType()).str();
  return i.text("mma.sync.aligned.m16n8k", std::to_string(getK()), ".row.col",
                getSaturate() ? ".satfinite" : "", sum, ".", stringifyElementType(getAType()).str(), ".",
                stringifyElementType(getBType()).str(), sum, " ", i.results(), ", ", i.vector(getA()), ", ",
                braced(i.vector(getB())), ", ", i.vector(getAccumulators()), ";");
}

/// Results are the registers of the values.
static LogicalResult verifyTied(Operation *op) {
  if (op->getOperandTypes() != op->getResultTypes())
    return op->emitOpError("has other types of results than of values");
  return success();
}

LogicalResult WgmmaFenceOp::verify() { return verifyTied(*this); }
Assembly WgmmaFenceOp::getAssembly() {
  return AssemblyText(*this).tie(getValues()).text("wgmma.fence.sync.aligned;");
}
Assembly WgmmaCommitOp::getAssembly() { return AssemblyText(*this).text("wgmma.commit_group.sync.aligned;"); }

LogicalResult WgmmaOp::verify() {
  ElementType a = getAType();
  if (failed(verifyTypes(*this, a, getBType(), getAccumulatorType(), /*float8Half=*/true)) ||
      failed(verifySaturation(*this, getSaturate(), a)))
    return failure();
  bool known = getN() >= 8 && getN() <= 256 && getN() % 8 == 0;
  if (isInteger8(a))
    known = known && (getN() <= 24 || getN() % 16 == 0);
  if (!known)
    return emitOpError("has n ") << getN() << ", but n is a multiple of "
                                 << (isInteger8(a) ? "16 (or 8, 24)" : "8") << " up to 256 for "
                                 << stringifyElementType(a);
  bool descriptor = getA().size() == 1 && getA()[0].getType().isInteger(64);
  bool registers =
      getA().size() == 4 && llvm::all_of(getA().getTypes(), [](Type t) { return t.isInteger(32); });
  if (!descriptor && !registers)
    return emitOpError("has an A that is neither one i64 descriptor nor four i32 words");
  if (registers && getTransposeA())
    return emitOpError("transposes A, but only a descriptor's A can be transposed");
  if ((getTransposeA() || getTransposeB()) && !isHalf(a))
    return emitOpError("transposes an operand of ")
           << stringifyElementType(a) << ", but only f16 and bf16 can be transposed";
  if ((getNegateA() || getNegateB()) && isInteger8(a))
    return emitOpError("negates an operand of ")
           << stringifyElementType(a) << ", but only floats can be negated";
  return verifyAccumulators(*this, getAccumulators(), getResultTypes(), getAccumulatorType(), getN() / 2);
}

Assembly WgmmaOp::getAssembly() {
  AssemblyText i(*this, AssemblyText::Ordered);
  i.tie(getAccumulators());
  ElementType type = getAType();
  // What follows the predicate depends on the type: signs for floats, major-ness for 16-bit ones, and A's only for a descriptor.
  std::string tail;
  if (!isInteger8(type))
    tail += std::string(", ") + (getNegateA() ? "-1" : "1") + ", " + (getNegateB() ? "-1" : "1");
  if (isHalf(type)) {
    if (getA().size() == 1)
      tail += getTransposeA() ? ", 1" : ", 0";
    tail += getTransposeB() ? ", 1" : ", 0";
  }
  std::string body = "wgmma.mma_async.sync.aligned.m64n" + std::to_string(getN()) + "k" +
                     std::to_string(elementsOfStep(type)) + (getSaturate() ? ".satfinite" : "") + "." +
                     stringifyElementType(getAccumulatorType()).str() + "." +
                     stringifyElementType(type).str() + "." + stringifyElementType(getBType()).str() + " " +
                     i.results() + ", " + i.vector(getA()) + ", " + i[getB()] + ", ";
  if (getScale())
    return i.text(body, i[getScale()], tail, ";");
  return i.text("{ .reg .pred p; setp.eq.u32 p, 0, 0; ", body, "p", tail, "; }");
}

LogicalResult WgmmaWaitOp::verify() {
  if (getPending() < 0 || getPending() > 7)
    return emitOpError("waits until ") << getPending() << " groups are pending, but 0 to 7 can be";
  return verifyTied(*this);
}

Assembly WgmmaWaitOp::getAssembly() {
  return AssemblyText(*this)
      .tie(getValues())
      .text("wgmma.wait_group.sync.aligned ", std::to_string(getPending()), ";");
}
