// SPDX-License-Identifier: MIT
// Cases of a spec, and the shapes of their inputs.
#include "compiler/interpreter/TestCases.h"
#include "compiler/interpreter/CaseExpander.h"

namespace tilegym::interp {

uint64_t hashName(std::string_view text, uint64_t start) {
  for (char c : text)
    start = (start ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return start;
}

std::vector<TestCase> expandTestCases(const sem::OpModel &op, const sem::TestModel &model,
                                      DiagnosticSink &sink) {
  CaseExpander expander(op, sink);
  SourceRange range = op.spec && op.spec->test ? op.spec->test->range : SourceRange{};
  if (model.crossed)
    expander.expand(model.settings, nullptr, {}, "", range, true);
  for (const sem::TestCaseModel &one : model.cases)
    expander.expand(one.settings, &model.settings, one.expects, one.name, one.range, false);
  return std::move(expander.cases);
}

std::vector<TestCase> expandSettings(const sem::OpModel &op, const sem::TestSettings &settings,
                                     SourceRange range, DiagnosticSink &sink) {
  CaseExpander expander(op, sink);
  expander.expand(settings, nullptr, {}, "", range, false);
  return std::move(expander.cases);
}

std::vector<BenchCase> expandBenchCases(const sem::OpModel &op, const sem::BenchModel &model,
                                        DiagnosticSink &sink) {
  SourceRange range = op.spec && op.spec->bench ? op.spec->bench->range : SourceRange{};
  std::vector<BenchCase> out;
  for (TestCase &call : expandSettings(op, model.settings, range, sink)) {
    BenchCase bench;
    auto count = [&](const sem::ExprPtr &expr) -> std::optional<int64_t> {
      if (!expr)
        return std::nullopt;
      sem::Evaluated value = sem::evaluateHost(*expr, hostValues(op, call));
      if (!value) {
        sink.error(expr->range, value.unknown ? "a value that this measurement does not fix" : value.error);
        return std::nullopt;
      }
      return value.value->asInt();
    };
    bench.bytes = count(model.bytes);
    bench.flops = count(model.flops);
    bench.call = std::move(call);
    out.push_back(std::move(bench));
  }
  return out;
}

std::optional<std::vector<Dims>> inputShapes(const sem::OpModel &op, const TestCase &test, int64_t tensor,
                                             std::vector<Fault> &faults) {
  const sem::TensorParam &param = op.tensors[tensor];
  std::vector<Dims> shapes(static_cast<size_t>(test.lengths[tensor]));
  for (size_t element = 0; element < shapes.size(); ++element)
    for (const sem::DimUse &use : param.dims) {
      if (use.isGroup) {
        shapes[element].insert(shapes[element].end(), test.groups[use.dim].begin(),
                               test.groups[use.dim].end());
        continue;
      }
      if (use.dim >= 0) {
        shapes[element].push_back(op.dims[use.dim].perElement ? test.dims.lists[use.dim][element]
                                                              : test.dims.values[use.dim]);
        continue;
      }
      sem::Evaluated extent = sem::evaluateHost(*use.expr, hostValues(op, test));
      if (!extent) {
        Fault fault;
        fault.kind = Fault::Arguments;
        fault.range = use.range;
        fault.tensor = param.name;
        fault.message = "the shape of `" + param.name +
                        "`: " + (extent.unknown ? "a value that the test does not fix" : extent.error);
        faults.push_back(std::move(fault));
        return std::nullopt;
      }
      shapes[element].push_back(extent.value->asInt());
    }
  return shapes;
}

} // namespace tilegym::interp
