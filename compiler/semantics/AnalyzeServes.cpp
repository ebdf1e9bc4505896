// SPDX-License-Identifier: MIT
// `serves` (other dispatch names with their own argument order) and `gradient of` (which argument stands for which).
#include "compiler/semantics/Analyze.h"
#include <algorithm>

namespace tilegym::sem {
namespace {

std::vector<std::string> argumentNames(const OpModel &op) {
  std::vector<std::string> names;
  for (const Argument &argument : op.arguments)
    names.push_back(argument.isTensor ? op.tensors[argument.id].name : op.scalars[argument.id].name);
  return names;
}

using Use = ast::ServesArg::Use;

void checkArgument(const OpModel &op, const ast::ServesArg &arg, DiagnosticSink &sink) {
  int64_t tensor = op.findTensor(arg.target.name), scalar = op.findScalar(arg.target.name);
  if (tensor < 0 && scalar < 0) {
    sink.error(arg.target.range, "`" + arg.target.name + "` is no argument of `" + op.name + "`",
               "write " + arg.name.name + ": ignored if it has no meaning here, or " + arg.name.name +
                   ": NAME if it is one of ours; arguments: " + quotedList(argumentNames(op)));
  } else if (tensor >= 0) {
    const auto *word = ast::dynCast<ast::Name>(arg.defaultValue.get());
    if (arg.defaultValue &&
        !(op.tensors[tensor].optional && word && (word->name == "None" || word->name == "none")))
      sink.error(arg.defaultValue->range, "the tensor `" + arg.target.name + "` cannot have this default",
                 op.tensors[tensor].optional ? "an optional tensor may default to None" : "");
  } else if (arg.defaultValue) {
    scalarLiteral(*arg.defaultValue, op, op.scalars[scalar], sink);
  }
}

/// A flag's default, which nothing of ours says: `false` where there is none.
void checkFlag(const ast::ServesArg &arg, DiagnosticSink &sink) {
  if (arg.defaultValue && !ast::dynCast<ast::BoolLiteral>(arg.defaultValue.get()))
    sink.error(arg.defaultValue->range, "the flag `" + arg.name.name + "` is true or false");
}

void checkTransposes(const OpModel &op, const ast::ServesArg &arg, DiagnosticSink &sink) {
  checkFlag(arg, sink);
  int64_t tensor = op.findTensor(arg.target.name);
  if (tensor < 0 || op.tensors[tensor].role != Role::Input || op.tensors[tensor].dims.size() < 2)
    sink.error(arg.target.range,
               "`" + arg.target.name + "` is not an input of `" + op.name + "` with two axes",
               "`transposes` says whose last two axes change places");
}

void checkInPlace(const OpModel &op, const ast::ServesArg &arg, DiagnosticSink &sink) {
  checkFlag(arg, sink);
  if (std::none_of(op.tensors.begin(), op.tensors.end(), [](const TensorParam &t) { return t.aliasOf >= 0; }))
    sink.error(arg.name.range, "no output of `" + op.name + "` may be one of its inputs",
               "say which may: `y alias x`");
  if (arg.target.name.empty())
    return;
  int64_t scalar = op.findScalar(arg.target.name);
  if (scalar < 0 || op.typeVars[op.scalars[scalar].typeVar].choices != std::vector{DType::Bool})
    sink.error(arg.target.range, "`" + arg.target.name + "` is no flag of `" + op.name + "`",
               "after `unless` stands one of its bool consts or scalars");
}

void checkResults(const OpModel &op, const ast::Serves &served, DiagnosticSink &sink) {
  for (const ast::BoundName &result : served.results) {
    int64_t tensor = op.findTensor(result.name);
    if (!result.name.empty() && (tensor < 0 || op.tensors[tensor].role == Role::Input))
      sink.error(result.range, "`" + result.name + "` is not an output of `" + op.name + "`");
  }
}

void serves(const OpModel &op, const ast::Serves &served, DiagnosticSink &sink) {
  std::vector<std::string> names, given;
  auto add = [&](std::vector<std::string> &list, const ast::BoundName &name) {
    if (std::find(list.begin(), list.end(), name.name) != list.end())
      sink.error(name.range, "`" + name.name + "` is listed twice");
    list.push_back(name.name);
  };
  for (const ast::ServesArg &arg : served.args) {
    const std::string &name = arg.name.name;
    add(names, arg.name);
    if ((arg.use == Use::Ignored || arg.use == Use::Refused) &&
        (op.findTensor(name) >= 0 || op.findScalar(name) >= 0)) {
      sink.error(arg.name.range,
                 "`" + name + "` is an argument of `" + op.name + "` and cannot be " +
                     (arg.use == Use::Ignored ? "ignored" : "none"),
                 "give it a default instead");
    } else if (arg.use == Use::Transposes) {
      checkTransposes(op, arg, sink);
    } else if (arg.use == Use::InPlace) {
      checkInPlace(op, arg, sink);
    } else if (arg.use == Use::Argument) {
      checkArgument(op, arg, sink);
      if (arg.target.name == name)
        given.push_back(name);
      else
        add(given, arg.target);
    }
  }
  checkResults(op, served, sink);
  for (const Argument &argument : op.arguments) {
    const std::string &name = argument.isTensor ? op.tensors[argument.id].name : op.scalars[argument.id].name;
    bool needed = argument.isTensor
                      ? op.tensors[argument.id].role != Role::Output && !op.tensors[argument.id].optional
                      : !op.scalars[argument.id].defaultValue;
    if (needed && std::find(given.begin(), given.end(), name) == given.end())
      sink.error(served.range, "\"" + served.name + "\" does not say where `" + name + "` comes from",
                 "list it among the arguments, or give it a default");
  }
}

void gradient(const OpModel &op, const ast::GradientOf &of, DiagnosticSink &sink) {
  for (const ast::NamePair &pair : of.outputs)
    if (int64_t id = op.findTensor(pair.to.name); id < 0 || op.tensors[id].role == Role::Output)
      sink.error(pair.to.range, "`" + pair.to.name + "` is not an input of `" + op.name + "`",
                 "before the `;` stands: output of " + of.op.name + " -> its gradient, an input here");
  for (const ast::NamePair &pair : of.inputs)
    if (int64_t id = op.findTensor(pair.to.name); id < 0 || op.tensors[id].role == Role::Input)
      sink.error(pair.to.range, "`" + pair.to.name + "` is not an output of `" + op.name + "`",
                 "after the `;` stands: input of " + of.op.name + " -> its gradient, an output here");
  if (of.op.name == op.name)
    sink.error(of.op.range, "`" + op.name + "` cannot be the gradient of itself");
}

} // namespace

void analyzeNamesServed(const OpModel &op, const ast::OpDecl &decl, DiagnosticSink &sink) {
  std::vector<std::string> seen;
  for (const ast::Serves &served : decl.serves) {
    if (std::find(seen.begin(), seen.end(), served.name) != seen.end())
      sink.error(served.range, "\"" + served.name + "\" is served twice");
    seen.push_back(served.name);
    serves(op, served, sink);
  }
  if (decl.gradientOf)
    gradient(op, *decl.gradientOf, sink);
}

} // namespace tilegym::sem
