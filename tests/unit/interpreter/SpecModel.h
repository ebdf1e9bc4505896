// SPDX-License-Identifier: MIT
// Specs written in a test: text to op and test model.
#pragma once
#include "compiler/interpreter/CaseRunner.h"
#include "compiler/semantics/SpecLookup.h"
#include "compiler/syntax/Parser.h"

#include <catch2/catch.hpp>

namespace tilegym::interp {

struct SpecModel {
  std::shared_ptr<const sem::OpModel> op;
  sem::TestModel test;
  std::vector<sem::TestCall> cases;
  const sem::TestCall &named(const std::string &name) const {
    for (const sem::TestCall &one : cases)
      if (one.name == name)
        return one;
    FAIL("no case \"" << name << "\"");
    return cases[0];
  }
};

inline SpecModel specModel(const std::string &text) {
  DiagnosticSink sink;
  SpecModel model;
  auto file = std::make_shared<SourceFile>("op.tile", text);
  auto tree = std::make_shared<ast::Spec>(parseSpec(file, sink));
  if (!sink.hasErrors())
    model.op = sem::analyze(tree, {}, sink);
  if (model.op) {
    model.test = sem::readTest(*model.op, *model.op->spec->test, sink);
    model.cases = sem::testCalls(*model.op, model.test, sink);
  }
  INFO(renderAll(sink));
  REQUIRE(!sink.hasErrors());
  REQUIRE(model.op);
  return model;
}

} // namespace tilegym::interp
