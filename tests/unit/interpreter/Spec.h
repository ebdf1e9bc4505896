// SPDX-License-Identifier: MIT
// Ops from spec text, for tests that run what authors write.
#pragma once
#include "compiler/interpreter/Interpreter.h"
#include "compiler/syntax/Parser.h"
#include <catch2/catch.hpp>
#include <fstream>
#include <memory>
#include <sstream>

namespace tilegym::interp::test {

inline std::shared_ptr<const sem::OpModel> analyzeText(const std::string &text,
                                                       std::string *errors = nullptr) {
  DiagnosticSink sink;
  auto file = std::make_shared<const SourceFile>("test.tile", text);
  auto spec = std::make_shared<ast::Spec>(parseSpec(file, sink));
  auto op = sink.hasErrors() ? nullptr : sem::analyze(spec, {}, sink);
  if (errors)
    *errors = renderAll(sink);
  else if (!op)
    FAIL(renderAll(sink));
  return op;
}

inline std::string readFile(const std::string &path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string describe(const std::vector<Fault> &faults) {
  std::string text;
  for (const Fault &fault : faults)
    text += render(toDiagnostic(fault)) + "\n";
  return text;
}

/// One call of an op, its tensors by name.
class Call {
public:
  explicit Call(std::shared_ptr<const sem::OpModel> model) : op(std::move(model)) {
    args.tensors.resize(op->tensors.size());
    for (const auto &scalar : op->scalars)
      args.scalars.push_back(scalar.defaultValue.value_or(sem::Constant{}));
    dtypeArguments.resize(op->typeVars.size(), DType::F32);
  }
  explicit Call(const std::string &text) : Call(analyzeText(text)) {}

  Call &tensor(std::string_view name, HostTensor given) {
    args.tensors.at(size_t(op->findTensor(name))).push_back(std::move(given));
    return *this;
  }
  Call &scalar(std::string_view name, sem::Constant value) {
    args.scalars.at(size_t(op->findScalar(name))) = value;
    return *this;
  }
  Call &ask(std::string_view output, bool wanted = true) {
    asked.emplace_back(op->findTensor(output), wanted);
    return *this;
  }

  sem::Specialization interface() {
    std::vector<Fault> faults;
    auto spec = specialize(*op, args, dtypeArguments, faults);
    INFO(describe(faults));
    REQUIRE(spec);
    for (auto [tensor, wanted] : asked)
      spec->present[size_t(tensor)] = wanted;
    return *spec;
  }
  RunResult reference(const RunOptions &options = {}) {
    return runReferenceOf(*op, interface(), args, options);
  }
  /// Runs a kernel or plan by name with these tile parameters; derived ones are computed.
  RunResult kernel(std::string_view name, const std::vector<sem::NamedInt> &params = {},
                   const RunOptions &options = {}, bool severalOrders = false) {
    int64_t id = -1;
    for (size_t k = 0; k < op->kernels.size(); ++k)
      if (op->kernels[k].name == name)
        id = int64_t(k);
    REQUIRE(id >= 0);
    std::vector<Fault> faults;
    auto spec = deriveParams(*op, interface(), id, args, faults);
    INFO(describe(faults));
    REQUIRE(spec);
    spec->params.insert(spec->params.end(), params.begin(), params.end());
    return severalOrders ? runInSeveralOrders(*op, *spec, args, options)
                         : runVariant(*op, *spec, args, options);
  }
  const HostTensor &output(const RunResult &result, std::string_view name) const {
    INFO(describe(result.faults));
    REQUIRE(result.ok());
    const auto &tensors = result.tensors.at(size_t(op->findTensor(name)));
    REQUIRE(tensors.size() == 1);
    return tensors[0];
  }
  std::vector<double> values(const RunResult &result, std::string_view name) const {
    return output(result, name).toDoubles();
  }

  std::shared_ptr<const sem::OpModel> op;
  Arguments args;
  std::vector<DType> dtypeArguments;
  std::vector<std::pair<int64_t, bool>> asked;
};

/// Deterministic values in [-2, 2).
inline HostTensor noise(DType dtype, Dims shape, uint64_t seed = 1) {
  HostTensor tensor = HostTensor::allocate(dtype, std::move(shape));
  for (int64_t i = 0, count = tensor.numElements(); i < count; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    tensor.set(i, double(int64_t(seed >> 33)) / double(1ll << 29) - 2);
  }
  return tensor;
}

/// The largest |a - b| / (|b| + 1e-3).
inline double worst(const HostTensor &a, const HostTensor &b) {
  REQUIRE(a.shape == b.shape);
  double most = 0;
  for (int64_t i = 0, count = a.numElements(); i < count; ++i) {
    const double x = a.asDouble(i), y = b.asDouble(i);
    if (x != x && y != y)
      continue;
    const double error = std::abs(x - y) / (std::abs(y) + 1e-3);
    most = error == error ? std::max(most, error) : 1e300;
  }
  return most;
}

} // namespace tilegym::interp::test
