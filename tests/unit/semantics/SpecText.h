// SPDX-License-Identifier: MIT
// Ops made from text in the test itself.
#pragma once
#include "compiler/semantics/OpModel.h"
#include "compiler/syntax/Parser.h"
#include <catch2/catch.hpp>

namespace tilegym::sem {

/// A complete spec around an interface: what the header does not need is as small as can be.
inline std::string
specAround(const std::string &header,
           const std::string &kernel = "kernel only(BN) { grid(1) }\ntune only { BN in [1] }",
           const std::string &test = "") {
  return header + "\nreference { }\n" + kernel + "\ntest { " + test + " }\nbench none \"not run\"\n";
}

inline std::shared_ptr<const OpModel> tryAnalyze(const std::string &text, DiagnosticSink &sink) {
  auto file = std::make_shared<const SourceFile>("test.tile", text);
  size_t before = sink.numErrors();
  auto spec = std::make_shared<const ast::Spec>(parseSpec(file, sink));
  return sink.numErrors() == before ? analyze(spec, {}, sink) : nullptr;
}

inline std::shared_ptr<const OpModel> mustAnalyze(const std::string &text) {
  DiagnosticSink sink;
  auto op = tryAnalyze(text, sink);
  INFO(renderAll(sink));
  REQUIRE(op);
  return op;
}

/// Messages of the errors that a spec has.
inline std::vector<std::string> errorsOf(const std::string &text) {
  DiagnosticSink sink;
  tryAnalyze(text, sink);
  std::vector<std::string> messages;
  for (const Diagnostic &diagnostic : sink.all())
    if (diagnostic.severity == Severity::Error)
      messages.push_back(diagnostic.message);
  return messages;
}

} // namespace tilegym::sem
