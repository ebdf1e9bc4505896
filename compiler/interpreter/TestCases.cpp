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

std::vector<TestCase> expandTestCases(const sem::OpModel &op, DiagnosticSink &sink) {
  CaseExpander expander(op, sink);
  if (op.spec && op.spec->test)
    expander.section(*op.spec->test);
  return std::move(expander.cases);
}

std::optional<TestCase> caseFromSettings(const sem::OpModel &op, const std::vector<ast::Setting> &settings,
                                         std::string name, DiagnosticSink &sink) {
  CaseExpander expander(op, sink);
  expander.named({}, settings, {}, std::move(name), {});
  if (expander.cases.empty())
    return std::nullopt;
  return std::move(expander.cases.front());
}

std::optional<std::vector<Dims>> inputShapes(const sem::OpModel &op, const TestCase &test, int64_t tensor,
                                             std::vector<Fault> &faults) {
  const sem::TensorParam &param = op.tensors[tensor];
  size_t count = 1;
  if (param.isList) {
    // Lists that share a per-element dim have equal length; one of fixed dims alone has two elements.
    count = 2;
    for (const sem::DimUse &use : param.dims)
      if (use.dim >= 0 && op.dims[use.dim].perElement)
        count = test.dims.lists[use.dim].size();
  }
  Arguments args;
  args.tensors.resize(op.tensors.size());
  args.scalars = test.scalars;
  std::vector<Dims> shapes(count);
  for (size_t element = 0; element < count; ++element)
    for (const sem::DimUse &use : param.dims) {
      if (use.isGroup) {
        shapes[element].insert(shapes[element].end(), test.groups[use.dim].begin(),
                               test.groups[use.dim].end());
      } else if (use.dim >= 0) {
        shapes[element].push_back(op.dims[use.dim].perElement ? test.dims.lists[use.dim][element]
                                                              : test.dims.values[use.dim]);
      } else {
        auto extent = evaluateHost(op, test.interface, test.dims, args, use.expr, faults);
        if (!extent)
          return std::nullopt;
        shapes[element].push_back(extent->asInt());
      }
    }
  return shapes;
}

} // namespace tilegym::interp
