// SPDX-License-Identifier: MIT
// Walks of the syntax tree, for names as written, and of the checked tree, for operations with their dtypes.
#include "tests/fuzz/kernels/KernelCoverage.h"
#include "compiler/semantics/Builtins.h"
#include "compiler/semantics/CheckedDump.h"
#include <algorithm>

namespace tilegym::fuzz {
namespace {

struct CheckedWalk {
  std::set<std::string> &uses;
  std::set<const sem::Expr *> seen;

  void expr(const sem::ExprPtr &e) {
    if (!e || !seen.insert(e.get()).second)
      return;
    DType dtype =
        e->operands.empty() || e->op == sem::Op::Select ? e->type.dtype : e->operands[0]->type.dtype;
    uses.insert("op " + std::string(sem::name(e->op)) + " " + std::string(name(dtype)));
    if (e->op == sem::Op::Convert)
      uses.insert("convert " + std::string(name(dtype)) + " to " + std::string(name(e->type.dtype)));
    for (const auto &item : e->items) {
      static const char *const kinds[] = {"point", "span", "gather", "bounds", "whole", "new axis"};
      uses.insert(std::string("index ") + kinds[item.kind]);
      expr(item.first);
      expr(item.second);
    }
    if (e->hasMask)
      uses.insert("mask of " + std::string(sem::name(e->op)));
    for (const auto &operand : e->operands)
      expr(operand);
    if (e->lambda) {
      block(e->lambda->body);
      for (const auto &result : e->lambda->results)
        expr(result);
    }
  }

  void block(const sem::Block &statements) {
    static const char *const kinds[] = {"let", "assign", "effect",   "for",   "while",
                                        "if",  "break",  "continue", "return"};
    for (const auto &stmt : statements) {
      if (stmt->kind <= sem::Stmt::Return)
        uses.insert(std::string("statement ") + kinds[stmt->kind]);
      for (const auto &e : {stmt->value, stmt->view, stmt->lo, stmt->hi, stmt->step})
        expr(e);
      block(stmt->condBlock);
      block(stmt->body);
      block(stmt->elseBody);
    }
  }
};

/// Names before a parenthesis: the texts are the generator's, without strings that could hold one.
void addBuiltins(std::string_view text, std::set<std::string> &uses) {
  auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    if (end > at && end < text.size() && text[end] == '(' && sem::findBuiltin(text.substr(at, end - at)))
      uses.insert("builtin " + std::string(text.substr(at, end - at)));
    at = std::max(end, at + 1);
  }
}

} // namespace

std::set<std::string> usesOf(const KernelCase &kernel) {
  std::set<std::string> uses;
  const sem::OpModel &op = *kernel.op;
  for (const sem::KernelModel &model : op.kernels)
    addBuiltins(op.spec->file->text().substr(model.decl->range.begin,
                                             model.decl->range.end - model.decl->range.begin),
                uses);
  DiagnosticSink sink;
  for (const sem::Specialization &spec : specializationsOf(kernel, sink))
    if (auto body = sem::instantiateKernel(op, spec, sink))
      CheckedWalk{uses, {}}.block(body->block);
  return uses;
}

std::string coverageTable(const std::map<std::string, uint64_t> &counts) {
  // "op exp" -> dtype -> count
  std::map<std::string, std::map<std::string, uint64_t>> rows;
  std::string text;
  for (const auto &[key, count] : counts) {
    size_t space = key.rfind(' ');
    std::string last = key.substr(space + 1);
    if (key.rfind("op ", 0) == 0)
      rows[key.substr(3, space - 3)][last] = count;
    else
      text +=
          "  " + key + std::string(key.size() < 34 ? 34 - key.size() : 1, ' ') + std::to_string(count) + "\n";
  }
  text += "\n  operation       ";
  for (DType dtype : allDTypes)
    text += std::string(8 - name(dtype).size(), ' ') + std::string(name(dtype));
  text += "\n";
  for (const auto &[operation, byType] : rows) {
    text += "  " + operation + std::string(operation.size() < 16 ? 16 - operation.size() : 1, ' ');
    for (DType dtype : allDTypes) {
      auto found = byType.find(std::string(name(dtype)));
      std::string number = found == byType.end() ? "." : std::to_string(found->second);
      text += std::string(number.size() < 8 ? 8 - number.size() : 1, ' ') + number;
    }
    text += "\n";
  }
  return text;
}

std::vector<std::string> builtinsNotUsed(const std::map<std::string, uint64_t> &counts) {
  // No target compiles these yet, the generator makes none (`mma`), or they say nothing about values.
  static const std::set<std::string> others = {"mma",       "mma_scaled", "sort", "topk",
                                               "histogram", "len",        "print"};
  std::vector<std::string> missing;
  for (const sem::BuiltinInfo &info : sem::builtins())
    if (!others.count(info.name) && !counts.count("builtin " + info.name))
      missing.push_back(info.name);
  return missing;
}

} // namespace tilegym::fuzz
