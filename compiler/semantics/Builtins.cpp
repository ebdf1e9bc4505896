// SPDX-License-Identifier: MIT
// Builtins.def made into data once, and the matching of call arguments to it.
#include "compiler/semantics/Builtins.h"
#include <algorithm>
#include <map>

namespace tilegym::sem {

std::string_view name(Family family) {
  switch (family) {
  case Family::Elementwise:
    return "elementwise";
  case Family::Convert:
    return "conversion";
  case Family::Shape:
    return "shape";
  case Family::MinMax:
  case Family::Reduce:
    return "reduction";
  case Family::Combine:
    return "scan and sort";
  case Family::Matmul:
    return "matrix product";
  case Family::Random:
    return "random";
  case Family::Program:
    return "program";
  case Family::Memory:
    return "memory";
  case Family::Facts:
    return "facts and checks";
  }
  return "";
}

static std::vector<BuiltinArgument> parseArguments(std::string_view text) {
  std::vector<BuiltinArgument> arguments;
  while (!text.empty()) {
    size_t comma = text.find(", ");
    std::string_view item = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
    BuiltinArgument argument;
    if (size_t equals = item.find('='); equals != std::string_view::npos) {
      argument.defaultText = item.substr(equals + 1);
      argument.byName = argument.optional = true;
      item = item.substr(0, equals);
    } else if (item.ends_with("...")) {
      argument.variadic = argument.optional = true;
      item.remove_suffix(3);
    } else if (item.ends_with('?')) {
      argument.optional = true;
      item.remove_suffix(1);
    }
    argument.name = item;
    arguments.push_back(std::move(argument));
  }
  return arguments;
}

const std::vector<BuiltinInfo> &builtins() {
  static const std::vector<BuiltinInfo> table = [] {
    std::vector<BuiltinInfo> rows;
#define BUILTIN(name, family, operation, arguments, doc, example)                                            \
  rows.push_back({Builtin::name##_, #name, Family::family, Op::operation, #name "(" arguments ")",           \
                  parseArguments(arguments), doc, example});
#include "compiler/semantics/Builtins.def"
#undef BUILTIN
    return rows;
  }();
  return table;
}

const BuiltinInfo *findBuiltin(std::string_view name) {
  static const std::map<std::string, const BuiltinInfo *, std::less<>> index = [] {
    std::map<std::string, const BuiltinInfo *, std::less<>> map;
    for (const BuiltinInfo &row : builtins())
      map[row.name] = &row;
    return map;
  }();
  auto it = index.find(name);
  return it == index.end() ? nullptr : it->second;
}

/// Edits (insert, delete, replace, swap of neighbours) that turn one word into the other.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i)
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string> &candidates) {
  // A long word is no slip of the pen, and the table above is quadratic.
  if (word.size() > 40)
    return {};
  size_t limit = word.size() <= 2 ? 0 : word.size() <= 5 ? 1 : 2;
  std::string best;
  for (const std::string &candidate : candidates) {
    if (candidate.size() > word.size() + limit || word.size() > candidate.size() + limit)
      continue;
    size_t distance = editDistance(word, candidate);
    if (distance > 0 && distance <= limit && (best.empty() || distance < editDistance(word, best)))
      best = candidate;
  }
  return best;
}

std::optional<BoundArguments> bindArguments(const BuiltinInfo &info, const ast::Call &call,
                                            DiagnosticSink &sink) {
  BoundArguments bound;
  bound.values.resize(info.arguments.size());
  std::string quoted = "`" + info.name + "`", usage = "it is written `" + info.signature + "`";
  size_t position = 0;
  for (const ast::Arg &arg : call.args) {
    if (!arg.value)
      return std::nullopt;
    if (arg.name.empty()) {
      // `reduce(x, axis=1, 0, add)`: positions skip what a name has taken.
      while (position < info.arguments.size() && (info.arguments[position].byName || bound.values[position]))
        ++position;
      if (position == info.arguments.size()) {
        // Options given by position are the likeliest slip, so the first that is free is named.
        auto option =
            std::find_if(info.arguments.begin(), info.arguments.end(), [&](const BuiltinArgument &a) {
              return a.byName && !bound.values[size_t(&a - info.arguments.data())];
            });
        if (option != info.arguments.end())
          sink.error(arg.value->range, quoted + " takes `" + option->name + "` by name",
                     "write `" + option->name + "=...`; " + usage);
        else
          sink.error(arg.value->range, quoted + " has too many arguments", usage);
        return std::nullopt;
      }
      if (info.arguments[position].variadic)
        bound.variadic.push_back(arg.value.get());
      else
        bound.values[position++] = arg.value.get();
      continue;
    }
    auto named = std::find_if(info.arguments.begin(), info.arguments.end(),
                              [&](const BuiltinArgument &a) { return a.name == arg.name && !a.variadic; });
    if (named == info.arguments.end()) {
      std::vector<std::string> names;
      for (const BuiltinArgument &a : info.arguments)
        if (!a.variadic)
          names.push_back(a.name);
      std::string near = nearest(arg.name, names);
      sink.error(arg.nameRange, quoted + " has no argument `" + arg.name + "`",
                 near.empty() ? usage : "did you mean `" + near + "`? " + usage);
      return std::nullopt;
    }
    size_t index = size_t(named - info.arguments.begin());
    if (bound.values[index]) {
      sink.error(arg.nameRange, quoted + " is given `" + arg.name + "` twice", usage);
      return std::nullopt;
    }
    bound.values[index] = arg.value.get();
  }
  for (size_t i = 0; i < info.arguments.size(); ++i)
    if (!info.arguments[i].optional && !bound.values[i]) {
      sink.error(call.range, quoted + " lacks its argument `" + info.arguments[i].name + "`", usage);
      return std::nullopt;
    }
  return bound;
}

} // namespace tilegym::sem
