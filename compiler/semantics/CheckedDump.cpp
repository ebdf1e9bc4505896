// SPDX-License-Identifier: MIT
// The printer of checked trees. Locals print as name.number, since inlining gives many the same name; leaves print without their types.
#include "compiler/semantics/CheckedDump.h"
#include "compiler/semantics/ConstFold.h"

namespace tilegym::sem {
namespace {

class Dumper {
public:
  Dumper(const OpModel &op, const Body *body, const Kernel *kernel, const Plan *plan = nullptr)
      : op(op), body(body), kernel(kernel), plan(plan) {}

  std::string expr(const Expr &e) {
    switch (e.op) {
    case Op::Const:
      return toString(e.constant, e.type.dtype) + ":" + std::string(name(e.type.dtype));
    case Op::Local:
      return local(e.index);
    case Op::Dim:
      return nameAt(op.dims, e.index);
    case Op::Scalar:
      return nameAt(op.scalars, e.index);
    case Op::KernelParam:
      return kernel ? nameAt(kernel->params, e.index) : "param" + std::to_string(e.index);
    case Op::Tensor:
      if (!e.isKernelParam)
        return nameAt(op.tensors, e.index);
      return kernel ? nameAt(kernel->params, e.index) : "param" + std::to_string(e.index);
    case Op::ListElement:
      return nameAt(op.tensors, e.index) + "[" + expr(*e.operands[0]) + "]";
    case Op::ListDim:
      return nameAt(op.dims, e.index) + "[" + expr(*e.operands[0]) + "]";
    case Op::ListLen:
      return "len(" + nameAt(op.tensors, e.index) + ")";
    case Op::Present:
      return "present(" + nameAt(op.tensors, e.index) + ")";
    case Op::SizeOf:
      return "sizeof(" + nameAt(op.typeVars, e.index) + ")";
    case Op::TypeCode:
      return nameAt(op.typeVars, e.index);
    default:
      break;
    }
    std::string text(name(e.op));
    text += "(";
    bool first = true;
    auto add = [&](const std::string &item) {
      text += (first ? "" : ", ") + item;
      first = false;
    };
    if (e.op == Op::BlockId || e.op == Op::NumBlocks)
      add(std::to_string(e.index));
    for (const ExprPtr &operand : e.operands)
      add(expr(*operand));
    if (e.op == Op::ViewIndex || e.op == Op::ValueIndex)
      add(items(e));
    attributes(e, add);
    if (e.lambda)
      add(lambda(*e.lambda));
    text += ")";
    if (e.type.kind == Type::View)
      return text + shape(e.type.shape);
    return e.type.kind == Type::Void ? text : text + ":" + toString(e.type);
  }

  void block(const Block &statements, int indent, std::string &out) {
    for (const StmtPtr &s : statements)
      stmt(*s, indent, out);
  }

  std::string names(const std::vector<NamedInt> &values) {
    std::string text;
    for (const NamedInt &v : values)
      text += (text.empty() ? "" : ", ") + v.name + " = " + std::to_string(v.value);
    return text;
  }

  std::string specialization(const Specialization &spec) {
    std::string text;
    for (size_t i = 0; i < spec.dtypes.size() && i < op.typeVars.size(); ++i)
      if (!op.typeVars[i].name.empty())
        text += " " + op.typeVars[i].name + "=" + std::string(name(spec.dtypes[i]));
    for (size_t i = 0; i < spec.consts.size() && i < op.scalars.size(); ++i)
      if (op.scalars[i].isConst)
        text +=
            " " + op.scalars[i].name + "=" +
            (op.scalars[i].enumerators.empty() ? toString(spec.consts[i])
                                               : nameOf(op.scalars[i].enumerators, spec.consts[i].asInt()));
    for (size_t i = 0; i < spec.constDims.size() && i < op.dims.size(); ++i)
      if (spec.constDims[i] != kDynamic)
        text += " " + op.dims[i].name + "=" + std::to_string(spec.constDims[i]);
    for (size_t i = 0; i < spec.present.size() && i < op.tensors.size(); ++i)
      if (op.tensors[i].optional)
        text += std::string(" ") + (spec.present[i] ? "" : "no ") + op.tensors[i].name;
    return text;
  }

private:
  template <class T> static std::string nameAt(const std::vector<T> &from, int64_t index) {
    return index >= 0 && size_t(index) < from.size() ? from[size_t(index)].name : "?" + std::to_string(index);
  }
  static std::string nameOf(const std::vector<std::string> &from, int64_t index) {
    return index >= 0 && size_t(index) < from.size() ? from[size_t(index)] : "?" + std::to_string(index);
  }
  std::string local(int64_t index) {
    std::string text = body && index >= 0 && size_t(index) < body->locals.size()
                           ? body->locals[size_t(index)].name
                           : "local";
    return text + "." + std::to_string(index);
  }
  static std::string shape(const std::vector<int64_t> &extents) {
    std::string text;
    for (int64_t extent : extents)
      text += (text.empty() ? "" : ", ") + (extent == kDynamic ? std::string("?") : std::to_string(extent));
    return "[" + text + "]";
  }
  std::string items(const Expr &e) {
    std::string text;
    for (const IndexItem &item : e.items) {
      text += text.empty() ? "[" : ", ";
      std::string first = item.first ? expr(*item.first) : "", second = item.second ? expr(*item.second) : "";
      switch (item.kind) {
      case IndexItem::Point:
        text += first;
        break;
      case IndexItem::Gather:
        text += "gather " + first;
        break;
      case IndexItem::Span:
        text += first + " :+ " + std::to_string(item.length);
        break;
      case IndexItem::Bounds:
        text += first + " : " + second;
        break;
      case IndexItem::Whole:
        text += ":";
        break;
      case IndexItem::NewAxis:
        text += "None";
        break;
      }
    }
    return text.empty() ? "[]" : text + "]";
  }
  template <class Add> void attributes(const Expr &e, Add &&add) {
    if (!e.ints.empty() && !e.wholeTile)
      add(shape(e.ints));
    switch (e.op) {
    case Op::Cat:
    case Op::Reduce:
    case Op::CumSum:
    case Op::Scan:
    case Op::Sort:
    case Op::TopK:
      if (!e.wholeTile)
        add("axis=" + std::to_string(e.index));
      break;
    case Op::TupleGet:
      add(std::to_string(e.index));
      break;
    default:
      break;
    }
    if ((e.op == Op::Sum || e.op == Op::Prod) && e.accType != e.operands[0]->type.dtype)
      add("acc=" + std::string(name(e.accType)));
    static constexpr const char *roundings[] = {"", "round=zero", "round=down", "round=up"};
    static constexpr const char *precisions[] = {"", "ieee", "tf32", "tf32x3", "promoted", "fast"};
    if (e.rounding != Rounding::NearestEven)
      add(roundings[size_t(e.rounding)]);
    if (e.precision != Precision::Default)
      add(precisions[size_t(e.precision)]);
    if (!e.saturate)
      add("sat=false");
    if (e.reverse)
      add("reverse");
    if (e.exact)
      add("exact");
    if (e.hasMask)
      add("masked");
    if (!e.text.empty())
      add("\"" + e.text + "\"");
  }
  std::string lambda(const Lambda &l) {
    std::string text = "(";
    for (size_t i = 0; i < l.params.size(); ++i)
      text += (i ? ", " : "") + local(l.params[i]);
    text += ") => ";
    std::string inner;
    block(l.body, 0, inner);
    for (char c : inner)
      text += c == '\n' ? ';' : c;
    for (size_t i = 0; i < l.results.size(); ++i)
      text += (i ? ", " : inner.empty() ? "" : " ") + expr(*l.results[i]);
    return text;
  }

  void stmt(const Stmt &s, int indent, std::string &out) {
    std::string pad(size_t(indent) * 2, ' ');
    auto line = [&](const std::string &text) { out += pad + text + "\n"; };
    auto nested = [&](const Block &inner) { block(inner, indent + 1, out); };
    switch (s.kind) {
    case Stmt::Let: {
      bool isVar = body && body->locals[size_t(s.index)].isVar;
      line((isVar ? "var " : "let ") + local(s.index) + " = " + expr(*s.value));
      break;
    }
    case Stmt::Assign:
      line(local(s.index) + " = " + expr(*s.value));
      break;
    case Stmt::Eval:
      line(expr(*s.value));
      break;
    case Stmt::For:
      line("for " + local(s.index) + " in " + expr(*s.lo) + " .. " + expr(*s.hi) + " step " + expr(*s.step) +
           " {");
      nested(s.body);
      line("}");
      break;
    case Stmt::While:
      line("while {");
      nested(s.condBlock);
      line("  " + expr(*s.value));
      line("} do {");
      nested(s.body);
      line("}");
      break;
    case Stmt::If:
      line("if " + expr(*s.value) + " {");
      nested(s.body);
      if (!s.elseBody.empty()) {
        line("} else {");
        nested(s.elseBody);
      }
      line("}");
      break;
    case Stmt::Break:
      line("break");
      break;
    case Stmt::Continue:
      line("continue");
      break;
    case Stmt::Return:
      line("return");
      break;
    case Stmt::WriteWhole:
      line(nameAt(op.tensors, s.index) + " = " + expr(*s.value));
      break;
    case Stmt::WriteView:
      line(expr(*s.view) + " = " + expr(*s.value));
      break;
    case Stmt::Scratch:
      if (plan) {
        const ScratchBuffer &b = plan->scratch[size_t(s.index)];
        std::string dims;
        for (const ExprPtr &d : b.dims)
          dims += (dims.empty() ? "" : ", ") + expr(*d);
        line("scratch " + b.name + ": " + std::string(name(b.dtype)) + "[" + dims + "]");
      }
      break;
    case Stmt::Launch:
      if (plan) {
        const Launch &l = plan->launches[size_t(s.index)];
        std::string args = names(l.kernel->spec.params);
        for (size_t i = 0; i < l.args.size(); ++i)
          args += (args.empty() ? "" : ", ") + nameAt(l.kernel->params, int64_t(i)) + " = " +
                  (l.args[i].kind == LaunchArg::ScratchRef ? nameAt(plan->scratch, l.args[i].scratch)
                                                           : expr(*l.args[i].value));
        line("launch " + l.kernel->name + "(" + args + ")");
      }
      break;
    }
  }

  const OpModel &op;
  const Body *body;
  const Kernel *kernel;
  const Plan *plan;
};

} // namespace

std::string dump(const OpModel &op, const Expr &expr, const Body *body, const Kernel *kernel) {
  return Dumper(op, body, kernel).expr(expr);
}

std::string dump(const OpModel &op, const Kernel &kernel) {
  Dumper dumper(op, &kernel, &kernel);
  std::string out = "kernel " + kernel.name + "(" + dumper.names(kernel.spec.params) + ")" +
                    dumper.specialization(kernel.spec) + " {\n";
  for (const KernelParam &param : kernel.params) {
    out += "  param " + param.name + ": " + std::string(name(param.dtype));
    for (size_t i = 0; i < param.dims.size(); ++i)
      out += (i ? ", " : "[") + (param.dims[i] ? dumper.expr(*param.dims[i]) : std::string("?"));
    out += (param.dims.empty() ? param.isTensor ? "[]\n" : "\n" : "]\n");
  }
  std::string flags;
  if (kernel.math.approx)
    flags += " approx";
  if (kernel.math.ftz)
    flags += " ftz";
  if (kernel.math.contract)
    flags += " contract";
  if (!flags.empty())
    out += "  math" + flags + "\n";
  for (size_t i = 0; i < kernel.grid.size(); ++i)
    out += (i ? ", " : "  grid ") + dumper.expr(*kernel.grid[i]);
  out += "\n";
  dumper.block(kernel.block, 1, out);
  return out + "}\n";
}

std::string dump(const OpModel &op, const Plan &plan) {
  Dumper dumper(op, &plan, nullptr, &plan);
  std::string out = "plan " + plan.name + "(" + dumper.names(plan.spec.params) + ")" +
                    dumper.specialization(plan.spec) + " {\n";
  dumper.block(plan.block, 1, out);
  out += "}\n";
  for (const Launch &launch : plan.launches)
    out += dump(op, *launch.kernel);
  return out;
}

std::string dump(const OpModel &op, const Reference &reference) {
  Dumper dumper(op, &reference, nullptr);
  std::string out = "reference" + dumper.specialization(reference.spec) + " {\n";
  dumper.block(reference.block, 1, out);
  return out + "}\n";
}

} // namespace tilegym::sem
