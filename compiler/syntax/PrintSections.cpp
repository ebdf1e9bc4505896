// SPDX-License-Identifier: MIT
// Sections as text: the interface, kernels and functions, `tune`, `test`, `bench`.
#include "compiler/syntax/PrinterImpl.h"
#include <algorithm>

namespace tilegym::syntax {

using namespace ast;

static void docLines(std::vector<std::string> &lines, const std::vector<std::string> &doc) {
  for (const std::string &text : doc)
    lines.push_back(text.empty() ? "##" : "## " + text);
}

// ---------------------------------------------------------------- the interface

Flow Printer::param(const Param &param) {
  Flow flow;
  flow.add(param.isConst ? "const " : "").add(param.isInout ? "inout " : "").add(param.isList ? "list " : "");
  flow.add(param.name.name).add(": ");
  for (size_t i = 0; i < param.enumerators.size(); ++i)
    flow.add(i ? " | " : "").add(param.enumerators[i].name);
  if (param.enumerators.empty())
    flow.add(typeFlow(param.type));
  if (param.defaultValue)
    flow.add(" = ").expr(*param.defaultValue);
  return flow;
}

/// The parameters up to and with `)`. One a line where any has a comment, else as many as fit.
void Printer::params(const std::vector<Param> &params, Flow &flow) {
  bool commented = std::any_of(params.begin(), params.end(), [](const Param &p) {
    return !p.doc.empty() || !p.comments.empty() || !p.trailingComment.empty();
  });
  if (!commented) {
    flow.open('(');
    for (size_t i = 0; i < params.size(); ++i) {
      if (i)
        flow.add(",").space(flow.costOf(0));
      flow.add(param(params[i]));
    }
    flow.close(')');
    return;
  }
  wrap(flow);
  flow = Flow();
  out += "(\n";
  indent += 2;
  for (const Param &p : params) {
    std::vector<std::string> lines = p.comments;
    docLines(lines, p.doc);
    comments(lines);
    startLine();
    Flow one = param(p);
    wrap(&p == &params.back() ? one : one.add(","));
    if (!p.trailingComment.empty()) {
      out += "  ";
      comment(p.trailingComment);
    }
    endLine();
  }
  indent -= 2;
  startLine();
  out += ')';
}

static Flow whereFlow(const std::vector<WhereItem> &items) {
  Flow flow("where ");
  for (size_t i = 0; i < items.size(); ++i) {
    const WhereItem &item = items[i];
    if (i)
      flow.add(",").space(0);
    if (item.condition) {
      flow.add(Flow().expr(*item.condition));
      if (!item.message.empty())
        flow.add(" ").string(item.message);
      continue;
    }
    flow.add(item.name.name).add(":");
    for (size_t c = 0; c < item.choices.size(); ++c)
      flow.add(c ? " | " : " ").expr(*item.choices[c]);
  }
  return flow;
}

static Flow servesFlow(const Serves &serves) {
  Flow flow("serves ");
  flow.string(serves.name).open('(');
  for (size_t i = 0; i < serves.args.size(); ++i) {
    const ServesArg &arg = serves.args[i];
    if (i)
      flow.add(",").space(flow.costOf(0));
    flow.add(arg.name.name);
    if (arg.defaultValue)
      flow.add("=").expr(*arg.defaultValue);
    using Use = ServesArg::Use;
    if (arg.use == Use::Ignored)
      flow.add(": ignored");
    else if (arg.use == Use::Refused)
      flow.add(": none");
    else if (arg.use == Use::Transposes)
      flow.add(": transposes ").add(arg.target.name);
    else if (arg.use == Use::InPlace)
      flow.add(arg.target.name.empty() ? ": in_place" : ": in_place unless ").add(arg.target.name);
    else if (arg.target.name != arg.name.name)
      flow.add(": ").add(arg.target.name);
  }
  flow.close(')');
  if (serves.results.empty())
    return flow;
  flow.add(" -> ");
  if (serves.resultsParenthesised)
    flow.open('(');
  for (size_t i = 0; i < serves.results.size(); ++i) {
    if (i)
      flow.add(",").space(flow.costOf(0));
    flow.add(serves.results[i].name.empty() ? "none" : serves.results[i].name);
  }
  if (serves.resultsParenthesised)
    flow.close(')');
  return flow;
}

static void pairs(Flow &flow, const std::vector<NamePair> &list, const char *between) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i)
      flow.add(",").space(flow.costOf(0));
    flow.add(list[i].from.name).add(between).add(list[i].to.name);
  }
}

void Printer::op(const OpDecl &op) {
  Flow head("op " + op.name.name);
  params(op.params, head);
  if (!op.results.empty()) {
    head.add(" ->").space(5);
    if (op.resultsParenthesised || op.results.size() > 1)
      params(op.results, head);
    else
      head.add(param(op.results[0]));
  }
  wrap(head);

  std::vector<Flow> clauses;
  if (!op.where.empty())
    clauses.push_back(whereFlow(op.where));
  for (const Serves &serves : op.serves)
    clauses.push_back(servesFlow(serves));
  if (op.gradientOf) {
    Flow flow("gradient of " + op.gradientOf->op.name);
    flow.open('(');
    pairs(flow, op.gradientOf->outputs, " -> ");
    flow.add(";").space(flow.costOf(0));
    pairs(flow, op.gradientOf->inputs, " -> ");
    flow.close(')');
    clauses.push_back(std::move(flow));
  }
  if (!op.aliases.empty()) {
    Flow flow;
    pairs(flow, op.aliases, " alias ");
    clauses.push_back(std::move(flow));
  }
  if (op.nondeterministic)
    clauses.emplace_back("nondeterministic");
  ++indent;
  for (const Flow &clause : clauses) {
    endLine();
    startLine();
    wrap(clause);
  }
  --indent;
}

// ---------------------------------------------------------------- code

void Printer::kernel(const KernelDecl &kernel) {
  Flow head(kernel.isPlan ? "plan " : "kernel ");
  head.add(kernel.name.name).open('(');
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const KernelParam &param = kernel.params[i];
    if (i)
      head.add(",").space(head.costOf(0));
    head.add(param.name.name);
    if (param.derived)
      head.add(" = ").expr(*param.derived);
    if (param.type)
      head.add(": ").add(typeFlow(*param.type));
  }
  head.close(')');
  if (kernel.when)
    head.add(" when ").expr(*kernel.when);
  wrap(head);
  block(kernel.body);
}

// ---------------------------------------------------------------- settings

Printer::Entry Printer::setting(const Setting &setting, std::string_view word) {
  Entry entry;
  entry.trivia = &setting;
  entry.flow.add(word).add(setting.kind == Setting::Where ? "where " : setting.name.name);
  if (setting.kind == Setting::In)
    entry.flow.add(" in ");
  else if (setting.kind == Setting::Equals)
    entry.flow.add(" =").space(Flow::afterAssign);
  entry.flow.expr(*setting.value);
  return entry;
}

Printer::Entry Printer::external(const External &external, std::string_view word) {
  Entry entry;
  entry.trivia = &external;
  entry.flow.add(word).add(external.backend.name).add(" ").string(external.text);
  return entry;
}

Printer::Entry Printer::braced(const Trivia &trivia, Flow head, const Braces &braces,
                               std::vector<Entry> list) {
  Entry entry;
  entry.trivia = &trivia;
  entry.flow = head;
  entry.flow.add(" ");
  entry.isFlat = flatEntries(entry.flow, list, braces.endComments, braces.oneLine);
  entry.print = [this, head = std::move(head), &braces, list = std::move(list)] {
    wrap(head);
    this->braces(list, braces.endComments, braces.oneLine);
  };
  return entry;
}

void Printer::tune(const TuneDecl &tune) {
  out += "tune " + tune.kernel.name;
  std::vector<Entry> list;
  for (const Setting &s : tune.settings)
    list.push_back(setting(s));
  for (const ArchSettings &arch : tune.archs) {
    std::vector<Entry> inner;
    for (const Setting &s : arch.settings)
      inner.push_back(setting(s));
    list.push_back(braced(arch, Flow("arch " + arch.arch.name), arch.braces, std::move(inner)));
  }
  braces(list, tune.braces.endComments, tune.braces.oneLine);
}

void Printer::test(const TestDecl &test) {
  out += "test";
  std::vector<Entry> list;
  for (const Setting &s : test.settings)
    list.push_back(setting(s));
  for (const Case &c : test.cases) {
    std::vector<Entry> inner;
    for (const Setting &s : c.settings)
      inner.push_back(setting(s));
    for (const Setting &s : c.expects)
      inner.push_back(setting(s, "expect "));
    list.push_back(braced(c, Flow("case ").string(c.name), c.braces, std::move(inner)));
  }
  if (test.toleranceRange.file || !test.tolerances.empty()) {
    std::vector<Entry> inner;
    for (const Tolerance &tolerance : test.tolerances) {
      Entry &entry = inner.emplace_back();
      entry.trivia = &tolerance;
      entry.flow.add(tolerance.dtype.name).add(": ").expr(*tolerance.value);
    }
    list.push_back(braced(test.toleranceTrivia, Flow("tolerance"), test.toleranceBraces, std::move(inner)));
  }
  for (const External &oracle : test.oracles)
    list.push_back(external(oracle, "oracle "));
  braces(list, test.braces.endComments, test.braces.oneLine);
}

void Printer::bench(const BenchDecl &bench) {
  if (bench.none) {
    out += Flow("bench none ").string(bench.noneReason).text;
    return;
  }
  out += "bench";
  std::vector<Entry> list;
  for (const Setting &s : bench.settings)
    list.push_back(setting(s));
  for (const External &peer : bench.peers)
    list.push_back(external(peer, "peer "));
  braces(list, bench.braces.endComments, bench.braces.oneLine);
}

void Printer::section(const Spec &spec, Spec::Section kind, size_t index) {
  auto doc = [&](const std::vector<std::string> &text) {
    std::vector<std::string> lines;
    docLines(lines, text);
    comments(lines);
  };
  switch (kind) {
  case Spec::Section::Use:
    out += "use " + spec.uses[index].name.name;
    return;
  case Spec::Section::Fn: {
    const FnDecl &fn = spec.fns[index];
    doc(fn.doc);
    Flow head("fn " + fn.name.name);
    head.open('(');
    for (size_t i = 0; i < fn.params.size(); ++i) {
      if (i)
        head.add(",").space(head.costOf(0));
      head.add(fn.params[i].name);
    }
    head.close(')');
    wrap(head);
    block(fn.body);
    return;
  }
  case Spec::Section::Op:
    doc(spec.op->doc);
    op(*spec.op);
    return;
  case Spec::Section::Reference:
    doc(spec.reference->doc);
    out += "reference";
    block(spec.reference->body);
    return;
  case Spec::Section::Kernel:
    doc(spec.kernels[index].doc);
    kernel(spec.kernels[index]);
    return;
  case Spec::Section::Tune:
    doc(spec.tunes[index].doc);
    tune(spec.tunes[index]);
    return;
  case Spec::Section::Test:
    doc(spec.test->doc);
    test(*spec.test);
    return;
  case Spec::Section::Bench:
    doc(spec.bench->doc);
    bench(*spec.bench);
    return;
  }
}

} // namespace tilegym::syntax
