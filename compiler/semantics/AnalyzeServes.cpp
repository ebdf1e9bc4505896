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

void serves(const OpModel &op, const ast::Serves &served, DiagnosticSink &sink) {
  std::vector<std::string> given;
  for (const ast::ServesArg &arg : served.args) {
    const std::string &name = arg.name.name;
    if (std::find(given.begin(), given.end(), name) != given.end())
      sink.error(arg.name.range, "`" + name + "` is listed twice");
    given.push_back(name);
    int64_t tensor = op.findTensor(name), scalar = op.findScalar(name);
    if (arg.ignored) {
      if (tensor >= 0 || scalar >= 0)
        sink.error(arg.name.range, "`" + name + "` is an argument of `" + op.name + "` and cannot be ignored",
                   "give it a default instead");
    } else if (tensor < 0 && scalar < 0) {
      sink.error(arg.name.range, "`" + name + "` is no argument of `" + op.name + "`",
                 "write " + name +
                     ": ignored if it has no meaning here; arguments: " + quotedList(argumentNames(op)));
    } else if (tensor >= 0) {
      const auto *word = ast::dynCast<ast::Name>(arg.defaultValue.get());
      if (arg.defaultValue &&
          !(op.tensors[tensor].optional && word && (word->name == "None" || word->name == "none")))
        sink.error(arg.defaultValue->range, "the tensor `" + name + "` cannot have this default",
                   op.tensors[tensor].optional ? "an optional tensor may default to None" : "");
    } else if (arg.defaultValue) {
      scalarLiteral(*arg.defaultValue, op, op.scalars[scalar], sink);
    }
  }
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
