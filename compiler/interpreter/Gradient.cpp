// SPDX-License-Identifier: MIT
// Central differences against a gradient op's reference.
#include "compiler/interpreter/Gradient.h"
#include "compiler/interpreter/Inputs.h"
#include "compiler/interpreter/NumericsRandom.h"
#include "compiler/semantics/Builtins.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace tilegym::interp {
namespace {

HostTensor widened(const HostTensor &tensor) {
  return isFloat(tensor.dtype) ? HostTensor::fromDoubles(DType::F64, tensor.shape, tensor.toDoubles())
                               : tensor;
}

Arguments widened(const Arguments &args) {
  Arguments out = args;
  for (auto &list : out.tensors)
    for (HostTensor &tensor : list)
      tensor = widened(tensor);
  return out;
}

double meanSquareRoot(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values)
    sum += value * value;
  return values.empty() ? 0 : std::sqrt(sum / double(values.size()));
}

/// One check: the two ops, and the forward call that goes with a case of the gradient op.
class Checker {
public:
  Checker(const sem::OpModel &backward, const sem::OpModel &forward, const sem::TestCall &test,
          const GradientOptions &options)
      : backward(backward), forward(forward), test(test), options(options),
        declared(*backward.spec->op->gradientOf) {}

  GradientResult run();

private:
  using Tensors = std::vector<std::vector<HostTensor>>;
  bool fail(std::string message) {
    result.failures.push_back(backward.name + ", case \"" + test.name + "\", gradient of " + forward.name +
                              ": " + message + "\n");
    return false;
  }
  bool skip(std::string why) {
    result.skipped = std::move(why);
    return false;
  }
  bool failed(const std::vector<Fault> &faults);
  bool prepareInputs();
  bool prepareForward();
  bool forwardTensor(size_t id, Arguments &narrow);
  bool forwardScalars(Arguments &narrow);
  std::optional<Tensors> runForward(const Arguments &args);
  bool runBackward();
  bool compareInput(const ast::NamePair &pair);
  std::optional<double> difference(int64_t tensor, const std::vector<std::pair<int64_t, double>> &direction);
  bool compare(const ast::NamePair &pair, int64_t tensor, const HostTensor &gradient, double scale,
               const std::vector<std::pair<int64_t, double>> &direction);

  const sem::OpModel &backward, &forward;
  const sem::TestCall &test;
  const GradientOptions &options;
  const ast::GradientOf &declared;
  GradientResult result;
  Arguments narrowInputs, backwardArgs, forwardArgs; ///< the last two in f64
  std::optional<sem::Reference> forwardReference;
  Tensors gradients;
};

bool Checker::failed(const std::vector<Fault> &faults) {
  for (const Fault &fault : faults) {
    Diagnostic diagnostic = toDiagnostic(fault);
    fail(diagnostic.range.file ? "\n" + render(diagnostic) : diagnostic.message);
  }
  return !faults.empty();
}

bool Checker::prepareInputs() {
  std::vector<Fault> faults;
  auto inputs = makeInputs(backward, test, Spread::Dense, faults);
  if (failed(faults) || !inputs)
    return false;
  for (const sem::TensorParam &tensor : backward.tensors)
    if (tensor.isList)
      return skip("lists of tensors have no gradient check");
  for (const auto &list : inputs->tensors)
    for (const HostTensor &tensor : list)
      if (tensor.numElements() > options.maxElements)
        return skip("larger than " + std::to_string(options.maxElements) + " elements");
  narrowInputs = std::move(*inputs);
  return true;
}

/// A forward input: the gradient op's input of that name, or one it doesn't need (a bias), which is then normal(0, 1).
bool Checker::forwardTensor(size_t id, Arguments &narrow) {
  const sem::TensorParam &tensor = forward.tensors[id];
  int64_t same = backward.findTensor(tensor.name);
  if (same >= 0 && backward.tensors[same].role != sem::Role::Output) {
    narrow.tensors[id] = narrowInputs.tensors[same];
    return true;
  }
  if (tensor.optional)
    return true;
  Dims shape;
  for (const sem::DimUse &use : tensor.dims) {
    int64_t dim = use.dim < 0 ? -1 : backward.findDim(forward.dims[use.dim].name);
    if (dim < 0)
      return fail("forward input `" + tensor.name +
                  "` is no input of the gradient, and its shape is not known from its dims");
    if (use.isGroup)
      shape.insert(shape.end(), test.bound.groups[dim].begin(), test.bound.groups[dim].end());
    else
      shape.push_back(test.bound.values.dims[dim]);
  }
  std::string error;
  auto made = generate(DType::F32, shape, sem::Filling{sem::Generator::Normal, {0, 1}},
                       hashName(tensor.name, test.seed), error);
  if (!made)
    return fail(error);
  const std::string &typeName = forward.typeVars[tensor.typeVar].name;
  int64_t typeVar = backward.findTypeVar(typeName);
  DType type = typeName.empty() || typeVar < 0 ? forward.typeVars[tensor.typeVar].choices[0]
                                               : test.bound.spec.dtypes[typeVar];
  narrow.tensors[id] = {HostTensor::fromDoubles(type, shape, made->toDoubles())};
  return true;
}

bool Checker::forwardScalars(Arguments &narrow) {
  for (const sem::ScalarParam &scalar : forward.scalars) {
    int64_t same = backward.findScalar(scalar.name);
    if (same >= 0)
      narrow.scalars.push_back(narrowInputs.scalars[same]);
    else if (scalar.defaultValue)
      narrow.scalars.push_back(*scalar.defaultValue);
    else
      return fail("scalar `" + scalar.name +
                  "` of the forward op is no scalar of the gradient and has no default");
  }
  return true;
}

bool Checker::prepareForward() {
  Arguments narrow;
  narrow.tensors.resize(forward.tensors.size());
  for (size_t id = 0; id < forward.tensors.size(); ++id)
    if (forward.tensors[id].role != sem::Role::Output && !forwardTensor(id, narrow))
      return false;
  if (!forwardScalars(narrow))
    return false;
  std::vector<DType> dtypes;
  for (const sem::TypeVar &type : forward.typeVars) {
    int64_t same = backward.findTypeVar(type.name);
    dtypes.push_back(same < 0 || type.name.empty() ? type.choices[0] : test.bound.spec.dtypes[same]);
  }
  std::vector<Fault> faults;
  auto interface = specialize(forward, narrow, dtypes, faults);
  if (failed(faults) || !interface)
    return false;
  // Consts are part of the specialization, and outputs are asked for when the gradient names or takes them.
  for (size_t i = 0; i < forward.scalars.size(); ++i)
    if (forward.scalars[i].isConst)
      interface->consts[i] = narrow.scalars[i];
  for (size_t id = 0; id < forward.tensors.size(); ++id)
    if (forward.tensors[id].role == sem::Role::Output) {
      const std::string &called = forward.tensors[id].name;
      bool named = std::any_of(declared.outputs.begin(), declared.outputs.end(),
                               [&](const ast::NamePair &pair) { return pair.from.name == called; });
      interface->present[id] = !forward.tensors[id].optional || named || backward.findTensor(called) >= 0;
    }
  DiagnosticSink sink;
  auto reference = sem::instantiateReference(forward, *interface, sink);
  if (!reference)
    return fail("the forward op's reference does not compile\n" + renderAll(sink));
  forwardReference = widenFloats(*reference);
  forwardArgs = widened(narrow);
  return true;
}

std::optional<Checker::Tensors> Checker::runForward(const Arguments &args) {
  RunResult run = runReference(forward, *forwardReference, args, options.run);
  if (failed(run.faults))
    return std::nullopt;
  return std::move(run.tensors);
}

bool Checker::runBackward() {
  auto outputs = runForward(forwardArgs);
  if (!outputs)
    return false;
  backwardArgs = widened(narrowInputs);
  for (size_t id = 0; id < forward.tensors.size(); ++id) {
    int64_t saved = backward.findTensor(forward.tensors[id].name);
    if (forward.tensors[id].role == sem::Role::Output && saved >= 0 &&
        backward.tensors[saved].role == sem::Role::Input && test.bound.spec.present[saved])
      backwardArgs.tensors[saved] = (*outputs)[id];
  }
  DiagnosticSink sink;
  auto reference = sem::instantiateReference(backward, test.bound.spec, sink);
  if (!reference)
    return fail("its reference does not compile\n" + renderAll(sink));
  RunResult run = runReference(backward, widenFloats(*reference), backwardArgs, options.run);
  if (failed(run.faults))
    return false;
  gradients = std::move(run.tensors);
  return true;
}

/// Derivative of the loss along a direction: the sum of dy (y(x + h v) - y(x - h v)) / 2h.
std::optional<double> Checker::difference(int64_t tensor,
                                          const std::vector<std::pair<int64_t, double>> &direction) {
  double scale = 1;
  for (const auto &[element, weight] : direction)
    scale = std::max(scale, std::fabs(forwardArgs.tensors[tensor][0].asDouble(element)));
  double step = 6e-6 * scale; // the cube root of f64's rounding error
  Tensors sides[2];
  for (int side : {0, 1}) {
    Arguments moved = forwardArgs;
    moved.tensors[tensor] = {forwardArgs.tensors[tensor][0].clone()};
    HostTensor &x = moved.tensors[tensor][0];
    for (const auto &[element, weight] : direction)
      x.set(element, x.asDouble(element) + (side ? step : -step) * weight);
    auto run = runForward(moved);
    if (!run)
      return std::nullopt;
    sides[side] = std::move(*run);
  }
  double sum = 0;
  for (const ast::NamePair &pair : declared.outputs) {
    int64_t y = forward.findTensor(pair.from.name), dy = backward.findTensor(pair.to.name);
    if (backwardArgs.tensors[dy].empty())
      continue; // an optional gradient that this case leaves away is zero
    // Differences element by element: the sums themselves would cancel.
    for (int64_t i = 0, count = sides[0][y][0].numElements(); i < count; ++i)
      sum +=
          backwardArgs.tensors[dy][0].asDouble(i) * (sides[1][y][0].asDouble(i) - sides[0][y][0].asDouble(i));
  }
  return sum / (2 * step);
}

bool Checker::compare(const ast::NamePair &pair, int64_t tensor, const HostTensor &gradient, double scale,
                      const std::vector<std::pair<int64_t, double>> &direction) {
  auto numeric = difference(tensor, direction);
  if (!numeric)
    return false;
  double analytic = 0, size = 0;
  for (const auto &[element, weight] : direction) {
    analytic += gradient.asDouble(element) * weight;
    size += weight * weight;
  }
  double allowed = options.tolerance * (std::fabs(analytic) + scale * std::sqrt(size));
  ++result.compared;
  if (std::fabs(*numeric - analytic) <= allowed)
    return true;
  char numbers[200];
  std::snprintf(numbers, sizeof numbers, "%.9g, central differences of the forward op %.9g (%.3g allowed)",
                analytic, *numeric, allowed);
  std::string place = direction.size() > 1 || gradient.numElements() == 1
                          ? "along a random direction"
                          : "at element " + std::to_string(direction[0].first);
  return fail("`" + pair.to.name + "` " + place + " is " + numbers);
}

bool Checker::compareInput(const ast::NamePair &pair) {
  int64_t tensor = forward.findTensor(pair.from.name), out = backward.findTensor(pair.to.name);
  if (gradients[out].empty() || forwardArgs.tensors[tensor].empty())
    return true; // an optional one that this case leaves away
  const HostTensor &gradient = gradients[out][0], &input = forwardArgs.tensors[tensor][0];
  if (gradient.shape != input.shape)
    return fail("`" + pair.to.name + "` has another shape than `" + pair.from.name + "`");
  double scale = meanSquareRoot(gradient.toDoubles());
  int64_t count = input.numElements();
  PhiloxStream stream(hashName(pair.to.name, test.seed), 32);
  std::vector<int64_t> picked;
  for (int64_t i = 0; i < std::min(count, options.elements); ++i)
    picked.push_back(count <= options.elements ? i : int64_t(stream.at(uint64_t(i)) % uint64_t(count)));
  for (int64_t element : picked)
    if (!compare(pair, tensor, gradient, scale, {{element, 1}}))
      return false;
  for (int64_t d = 0; d < options.directions && count > 1; ++d) {
    std::vector<std::pair<int64_t, double>> direction;
    for (int64_t i = 0; i < count; ++i)
      direction.push_back({i, stream.at(uint64_t(100 + d * count + i)) & 1 ? 1.0 : -1.0});
    if (!compare(pair, tensor, gradient, scale, direction))
      return false;
  }
  return true;
}

GradientResult Checker::run() {
  if (!prepareInputs() || !prepareForward() || !runBackward())
    return std::move(result);
  for (const ast::NamePair &pair : declared.inputs)
    compareInput(pair);
  return std::move(result);
}

} // namespace

bool isGradient(const sem::OpModel &op) { return op.spec && op.spec->op && op.spec->op->gradientOf; }

std::string forwardName(const sem::OpModel &op) {
  return isGradient(op) ? op.spec->op->gradientOf->op.name : "";
}

GradientResult checkGradient(const sem::OpModel &backward, const sem::OpModel &forward,
                             const sem::TestCall &test, const GradientOptions &options) {
  return Checker(backward, forward, test, options).run();
}

bool checkGradientNames(const sem::OpModel &backward, const sem::OpModel &forward, DiagnosticSink &sink) {
  size_t before = sink.numErrors();
  auto check = [&](const ast::BoundName &name, bool isOutput) {
    std::vector<std::string> names;
    for (const sem::TensorParam &tensor : forward.tensors)
      if (tensor.role == sem::Role::Inout || (tensor.role == sem::Role::Output) == isOutput)
        names.push_back(tensor.name);
    if (std::find(names.begin(), names.end(), name.name) != names.end())
      return;
    std::string has, near = sem::nearest(name.name, names);
    for (const std::string &one : names)
      has += (has.empty() ? "it has `" : ", `") + one + "`";
    sink.error(name.range,
               "`" + name.name + "` is not an " + (isOutput ? "output" : "input") + " of `" + forward.name +
                   "`",
               near.empty() ? has : "did you mean `" + near + "`?");
  };
  for (const ast::NamePair &pair : backward.spec->op->gradientOf->outputs)
    check(pair.from, /*isOutput=*/true);
  for (const ast::NamePair &pair : backward.spec->op->gradientOf->inputs)
    check(pair.from, /*isOutput=*/false);
  return sink.numErrors() == before;
}

} // namespace tilegym::interp
