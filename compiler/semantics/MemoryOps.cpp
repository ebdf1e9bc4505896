// SPDX-License-Identifier: MIT
// load, store and atomics: regions, padding, masks, what may be written and by which dtype.
#include "compiler/semantics/BodyChecker.h"
#include <algorithm>

namespace tilegym::sem {

Value BodyChecker::memoryOp(Builtin id, const BoundArguments &args, SourceRange range) {
  if (kind == Kind::Plan || !block) {
    error(range, "memory is not accessed here",
          kind == Kind::Plan ? "a plan only launches kernels" : "host expressions use dims and scalars");
    return {};
  }
  if (pureContext) {
    error(range, std::string("memory is not accessed in ") + pureContext);
    return {};
  }
  if (id == Builtin::load_)
    return loadOp(args, range);
  if (inReference()) {
    error(range, "a reference does not store", "assign to the output: y = e, or y[i, a : b] = e");
    return {};
  }
  return id == Builtin::store_ ? storeOp(args, range) : atomicOp(id, args, range);
}

/// A view whose extents are all known (in a kernel): what can be read or written at once.
Operand BodyChecker::checkRegion(const ast::Expr *e, std::string_view what) {
  Value value = check(e);
  if (!value)
    return {};
  if (value.kind != Value::Data || value.data.type().kind != Type::View) {
    if (value.kind == Value::Data)
      error(e->range,
            std::string(what) + " takes a region of a tensor, found " + toString(value.data.type()));
    else
      asValue(value, e->range, what);
    return {};
  }
  const Type &type = value.data.type();
  if (!type.tileSizes.empty()) {
    error(e->range, "this view is cut into tiles but not indexed", "take one tile: x.tile(BM, BN)[i, k]");
    return {};
  }
  if (!inKernel())
    return value.data;
  for (size_t axis = 0; axis < type.shape.size(); ++axis)
    if (type.shape[axis] == kDynamic) {
      error(e->range,
            std::string(what) + " of a region whose axis " + std::to_string(axis) +
                " has a run-time extent, found " + toString(type),
            "take a range of static length (c :+ BN), a tile (x.tile(BM, BN)[i, k]) or a position");
      return {};
    }
  if (ShapeFault fault = checkTileShape(type.shape); !fault.message.empty()) {
    shapeError(e->range, fault);
    return {};
  }
  return value.data;
}

bool BodyChecker::addMask(const ast::Expr *mask, const std::vector<int64_t> &shape, Expr &access) {
  if (!mask)
    return true;
  Operand x = ops.broadcastTo(ops.requireBool(checkValue(mask, "the mask"), "the mask"), shape, "the mask");
  if (!x)
    return false;
  access.operands.push_back(x.expr);
  access.hasMask = true;
  return true;
}

Value BodyChecker::loadOp(const BoundArguments &args, SourceRange range) {
  Operand region = checkRegion(args.values[0], "`load`");
  if (!region)
    return {};
  const Type &type = region.type();
  auto root = rootOf(region.expr.get());
  bool absent = root && !root->isKernelParam && size_t(root->id) < spec.present.size() &&
                !spec.present[size_t(root->id)];
  if (absent) {
    error(range,
          "the optional output " + quoted(op.tensors[size_t(root->id)].name) +
              " is read where it may be absent",
          "guard it: const if present(" + op.tensors[size_t(root->id)].name + ") { ... }");
    return {};
  }
  Constant zero = isFloat(type.dtype)  ? Constant{0.0}
                  : isBool(type.dtype) ? Constant{false}
                                       : Constant{int64_t(0)};
  Operand pad{makeConst(type.dtype, zero, range)};
  if (args.values[1]) {
    pad = ops.require(checkScalar(args.values[1], "the pad"), type.dtype, "the pad");
    if (!pad)
      return {};
  }
  auto expr = make(Op::Load, tileType(type.dtype, type.shape), {region.expr, pad.expr}, range);
  if (!addMask(args.values[2], type.shape, *expr))
    return {};
  // Accesses to one tensor happen in program order: what the kernel may write is read now, not where the value is used.
  bool readOnly = root && !root->isKernelParam && op.tensors[size_t(root->id)].role == Role::Input;
  return readOnly ? Operand{expr} : bind({expr}, "loaded", range, true);
}

bool BodyChecker::checkWritable(const Operand &region, SourceRange range, std::string_view what) {
  auto root = rootOf(region.expr.get());
  if (!root) {
    error(range, std::string(what) + " of a region of no tensor");
    return false;
  }
  if (root->isKernelParam) {
    if (size_t(root->id) < writtenParams.size())
      writtenParams[size_t(root->id)] = true;
    return true;
  }
  const TensorParam &tensor = op.tensors[size_t(root->id)];
  if (tensor.role == Role::Input) {
    error(range, std::string(what) + " writes the input " + quoted(tensor.name),
          "declare it `inout " + tensor.name + "` if the op updates it in place");
    return false;
  }
  written[size_t(root->id)] = true;
  return true;
}

/// A float is rounded to the tensor's dtype; an integer must fit, or be converted by name.
Operand BodyChecker::storedValue(Operand value, DType to, std::string_view what) {
  if (!value)
    return {};
  bool rounds = isFloat(value.dtype()) && isFloat(to),
       widens = isInt(value.dtype()) && isInt(to) && fitsIn(value.dtype(), to);
  if (!value.literal && (rounds || widens))
    return ops.convert(value, to, value.expr->range);
  return ops.require(value, to, what);
}

/// Broadcasts to a region's shape. Reductions keep their axes, so a value with too many is told how to drop them.
Operand BodyChecker::fitTo(Operand value, const std::vector<int64_t> &shape, std::string_view what) {
  if (!value || value.type().shape.size() <= shape.size())
    return ops.broadcastTo(value, shape, what);
  std::string help;
  if (std::count(value.type().shape.begin(), value.type().shape.end(), 1) > 0)
    help = "drop axes of extent 1 by an index: v[:, 0], v[0, 0]";
  error(value.expr->range,
        std::string(what) + " has shape " + toString(value.type()) + ", expected " +
            toString(tileType(value.dtype(), shape)),
        help);
  return {};
}

Value BodyChecker::storeOp(const BoundArguments &args, SourceRange range) {
  Operand region = checkRegion(args.values[0], "`store`"),
          value = checkValue(args.values[1], "the stored value");
  if (!region || !checkWritable(region, args.values[0]->range, "`store`") ||
      !mayHaveEffects(range, "`store`"))
    return {};
  value = storedValue(value, region.dtype(), "the stored value");
  value = fitTo(value, region.type().shape, "the stored value");
  if (!value)
    return {};
  auto expr = make(Op::Store, Type(), {region.expr, value.expr}, range);
  if (!addMask(args.values[2], region.type().shape, *expr))
    return {};
  auto root = rootOf(region.expr.get());
  // An optional output is written only if asked for.
  if (root && !root->isKernelParam && size_t(root->id) < spec.present.size() &&
      !spec.present[size_t(root->id)])
    return Value::nothing();
  emit(Stmt::Eval, range).value = expr;
  return Value::nothing();
}

Value BodyChecker::atomicOp(Builtin id, const BoundArguments &args, SourceRange range) {
  const BuiltinInfo &info = builtins()[size_t(id)];
  std::string what = quoted(info.name);
  Operand region = checkRegion(args.values[0], what);
  if (!region || !checkWritable(region, args.values[0]->range, what) || !mayHaveEffects(range, what))
    return {};
  DType dtype = region.dtype();
  auto root = rootOf(region.expr.get());
  if (root && !root->isKernelParam) {
    const TensorParam &tensor = op.tensors[size_t(root->id)];
    if (tensor.role == Role::Output && !tensor.fill) {
      error(range, what + " on the output " + quoted(tensor.name) + ", which has no initial value",
            "give it one in the signature: -> " + tensor.name + ": ... = 0");
      return {};
    }
  }
  unsigned bytes = sizeInBytes(dtype);
  bool wide = isInt(dtype) && bytes >= 4, good = wide;
  if (id == Builtin::atomic_add_)
    good = wide || (isFloat(dtype) && bytes >= 2);
  else if (id == Builtin::atomic_exchange_ || id == Builtin::atomic_cas_)
    good = wide || (isFloat(dtype) && bytes >= 4);
  if (!good) {
    error(args.values[0]->range, what + " does not work on " + std::string(name(dtype)),
          id == Builtin::atomic_add_ ? "it adds f16, bf16, f32, f64 and integers of 32 or 64 bits"
          : id == Builtin::atomic_exchange_ || id == Builtin::atomic_cas_
              ? "it takes f32, f64 and integers of 32 or 64 bits"
              : "it takes integers of 32 or 64 bits");
    return {};
  }
  if (isFloat(dtype) && id == Builtin::atomic_add_ && !op.nondeterministic) {
    error(range, "float atomics add in no fixed order, so results differ from run to run",
          "write `nondeterministic` in the op's header, or reduce in fixed order");
    return {};
  }
  auto expr = make(info.operation, tileType(dtype, region.type().shape), {region.expr}, range);
  size_t values = id == Builtin::atomic_cas_ ? 2 : 1;
  for (size_t i = 1; i <= values; ++i) {
    std::string role = "the " + info.arguments[i].name + " of " + what;
    Operand value = storedValue(checkValue(args.values[i], role), dtype, role);
    value = fitTo(value, region.type().shape, role);
    if (!value)
      return {};
    expr->operands.push_back(value.expr);
  }
  if (!addMask(args.values[values + 1], region.type().shape, *expr))
    return {};
  if (root && !root->isKernelParam && size_t(root->id) < spec.present.size() &&
      !spec.present[size_t(root->id)])
    return Value::nothing();
  // The old values go to a local at once, so that the access happens here and once.
  return bind({expr}, "old", range, true);
}

} // namespace tilegym::sem
