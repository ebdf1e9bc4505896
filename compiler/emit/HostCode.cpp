// SPDX-License-Identifier: MIT
// A walk in postfix order. Integers of every dtype are 64-bit here and floats are doubles, as host expressions define it.
#include "compiler/emit/HostCode.h"
#include <bit>

using namespace llvm;

namespace tilegym::emit {
namespace {

using format::Inst;
using format::OpCode;
using sem::Op;

bool isFloat(const sem::Expr &e) { return tilegym::isFloat(e.type.dtype); }

std::optional<OpCode> unaryCode(Op op, bool real) {
  switch (op) {
  case Op::Neg:
    return real ? OpCode::NegF : OpCode::NegI;
  case Op::Abs:
    return real ? OpCode::AbsF : OpCode::AbsI;
  case Op::Not:
    return OpCode::NotB;
  case Op::BitNot:
    return OpCode::BitNotI;
  case Op::Pow2Ceil:
    return OpCode::Pow2CeilI;
  case Op::Sqrt:
    return OpCode::SqrtF;
  case Op::Floor:
    return OpCode::FloorF;
  case Op::Ceil:
    return OpCode::CeilF;
  default:
    return std::nullopt;
  }
}

std::optional<OpCode> realCode(Op op) {
  switch (op) {
  case Op::Add:
    return OpCode::AddF;
  case Op::Sub:
    return OpCode::SubF;
  case Op::Mul:
    return OpCode::MulF;
  case Op::Div:
    return OpCode::DivF;
  case Op::Min:
    return OpCode::MinF;
  case Op::Max:
    return OpCode::MaxF;
  case Op::Eq:
    return OpCode::EqF;
  case Op::Ne:
    return OpCode::NeF;
  case Op::Lt:
    return OpCode::LtF;
  case Op::Le:
    return OpCode::LeF;
  case Op::Gt:
    return OpCode::GtF;
  case Op::Ge:
    return OpCode::GeF;
  default:
    return std::nullopt;
  }
}

std::optional<OpCode> integerCode(Op op) {
  switch (op) {
  case Op::Add:
    return OpCode::AddI;
  case Op::Sub:
    return OpCode::SubI;
  case Op::Mul:
    return OpCode::MulI;
  case Op::FloorDiv:
    return OpCode::FloorDivI;
  case Op::Mod:
    return OpCode::ModI;
  case Op::CDiv:
    return OpCode::CDivI;
  case Op::Min:
    return OpCode::MinI;
  case Op::Max:
    return OpCode::MaxI;
  case Op::Pow:
    return OpCode::PowI;
  case Op::And:
    return OpCode::AndI;
  case Op::Or:
    return OpCode::OrI;
  case Op::Xor:
    return OpCode::XorI;
  case Op::Shl:
    return OpCode::ShlI;
  case Op::Shr:
    return OpCode::ShrI;
  case Op::Eq:
    return OpCode::EqI;
  case Op::Ne:
    return OpCode::NeI;
  case Op::Lt:
    return OpCode::LtI;
  case Op::Le:
    return OpCode::LeI;
  case Op::Gt:
    return OpCode::GtI;
  case Op::Ge:
    return OpCode::GeI;
  default:
    return std::nullopt;
  }
}

class Compiler {
public:
  std::vector<Inst> code;

  Error run(const sem::Expr &e) {
    switch (e.op) {
    case Op::Const:
      if (isFloat(e))
        return push(OpCode::PushFloat, 0, std::bit_cast<int64_t>(e.constant.asFloat()));
      return push(OpCode::PushInt, 0, e.constant.asInt());
    case Op::Dim:
      return push(OpCode::PushDim, e.index);
    case Op::Scalar:
      return push(isFloat(e) ? OpCode::PushScalarFloat : OpCode::PushScalarInt, e.index);
    case Op::Present:
      return push(OpCode::PushPresent, e.index);
    case Op::SizeOf:
      return push(OpCode::PushSizeOf, e.index);
    case Op::TypeCode:
      return push(OpCode::PushDType, e.index);
    case Op::SmCount:
      return push(OpCode::PushSmCount);
    case Op::ListLen:
      return push(OpCode::PushListLength, e.index);
    case Op::Local:
      return variable(e);
    case Op::ListSum:
      return sum(e);
    default:
      break;
    }
    for (const sem::ExprPtr &operand : e.operands)
      if (Error error = run(*operand))
        return error;
    if (e.operands.empty())
      return unsupported(e);
    if (e.op == Op::Convert)
      return convert(e);
    if (e.op == Op::ListDim)
      return push(OpCode::ListDim, e.index);
    if (e.op == Op::Select)
      return push(OpCode::Select);
    bool real = isFloat(*e.operands[0]);
    std::optional<OpCode> opcode = e.operands.size() == 1 ? unaryCode(e.op, real)
                                   : real                 ? realCode(e.op)
                                                          : integerCode(e.op);
    return opcode ? push(*opcode) : unsupported(e);
  }

private:
  std::vector<int64_t> variables; ///< of the sums around

  Error push(OpCode opcode, int64_t a = 0, int64_t imm = 0) {
    code.push_back({opcode, 0, uint32_t(a), imm});
    return Error::success();
  }
  /// A sum's, by how many sums stand around its own.
  Error variable(const sem::Expr &e) {
    for (size_t depth = variables.size(); depth-- > 0;)
      if (variables[depth] == e.index)
        return push(OpCode::PushVariable, int64_t(depth));
    return unsupported(e);
  }
  Error sum(const sem::Expr &e) {
    if (Error error = run(*e.operands[0]))
      return error;
    if (Error error = run(*e.operands[1]))
      return error;
    size_t begin = code.size();
    if (Error error = push(OpCode::BeginSum))
      return error;
    variables.push_back(e.lambda->params[0]);
    Error error = run(*e.lambda->results[0]);
    variables.pop_back();
    if (error)
      return error;
    uint32_t length = uint32_t(code.size() - begin);
    code[begin].a = length;
    return push(OpCode::EndSum, length);
  }
  Error convert(const sem::Expr &e) {
    bool from = isFloat(*e.operands[0]), to = isFloat(e);
    if (from == to)
      return Error::success();
    return push(to ? OpCode::IntToFloat : OpCode::FloatToInt);
  }
  Error unsupported(const sem::Expr &e) {
    if (!e.range.file)
      return createStringError(
          "the runtime cannot evaluate an expression of this op's guards, dims or checks yet");
    SourceFile::LineColumn at = e.range.file->lineColumn(e.range.begin);
    return createStringError(
        "%s:%u:%u: the runtime cannot evaluate this expression yet (functions beyond arithmetic "
        "are for the interpreter)",
        e.range.file->name().c_str(), at.line, at.column);
  }
};

} // namespace

Expected<std::vector<Inst>> compileHostExpr(const sem::Expr &expr) {
  Compiler compiler;
  if (Error error = compiler.run(expr))
    return error;
  return std::move(compiler.code);
}

} // namespace tilegym::emit
