// SPDX-License-Identifier: MIT
// Runs a spec on .npy files so that a script can judge the results:
//   run_dump SPEC OUT_FOLDER reference|KERNEL[:PARAM=VALUE...] NAME=FILE.npy ... NAME=NUMBER ...
// Each output is written to OUT_FOLDER/NAME.npy. Faults go to standard error.
#include "compiler/interpreter/Interpreter.h"
#include "compiler/interpreter/Npy.h"
#include "compiler/syntax/Parser.h"
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace tilegym;
using namespace tilegym::interp;

namespace {

int fail(const std::string &message) {
  std::fprintf(stderr, "run_dump: %s\n", message.c_str());
  return 1;
}

int fail(const std::vector<Fault> &faults) {
  for (const Fault &fault : faults)
    std::fputs(render(toDiagnostic(fault)).c_str(), stderr);
  return 1;
}

std::vector<std::string> split(const std::string &text, char at) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    parts.push_back(part);
  return parts;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4)
    return fail("usage: run_dump SPEC OUT_FOLDER reference|KERNEL[:PARAM=VALUE...] NAME=FILE.npy|NUMBER ...");
  std::ifstream in(argv[1]);
  std::stringstream text;
  text << in.rdbuf();
  DiagnosticSink sink;
  auto spec = std::make_shared<ast::Spec>(parseSpec(std::make_shared<SourceFile>(argv[1], text.str()), sink));
  auto op = sink.hasErrors() ? nullptr : sem::analyze(spec, {}, sink);
  if (!op)
    return fail(renderAll(sink));

  Arguments args;
  args.tensors.resize(op->tensors.size());
  for (const auto &scalar : op->scalars)
    args.scalars.push_back(scalar.defaultValue.value_or(sem::Constant{}));
  for (int i = 4; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
    if (int64_t scalar = op->findScalar(name); scalar >= 0) {
      args.scalars[size_t(scalar)].value = std::stod(value);
      continue;
    }
    const int64_t tensor = op->findTensor(name);
    if (tensor < 0)
      return fail("the op has no argument '" + name + "'");
    std::string error;
    // Raw bytes are bf16 or f8, as the only dtype the signature allows says.
    const auto &choices = op->typeVars[size_t(op->tensors[size_t(tensor)].typeVar)].choices;
    auto read = readNpy(value, choices.size() == 1 ? std::optional(choices[0]) : std::nullopt, error);
    if (!read)
      return fail(value + ": " + error);
    args.tensors[size_t(tensor)].push_back(*read);
  }

  std::vector<Fault> faults;
  auto interface = specialize(*op, args, {}, faults);
  if (!interface)
    return fail(faults);
  RunResult result;
  const std::vector<std::string> what = split(argv[3], ':');
  if (what[0] == "reference") {
    result = runReferenceOf(*op, *interface, args);
  } else {
    int64_t id = -1;
    for (size_t k = 0; k < op->kernels.size(); ++k)
      if (op->kernels[k].name == what[0])
        id = int64_t(k);
    if (id < 0)
      return fail("the op has no kernel '" + what[0] + "'");
    auto variant = deriveParams(*op, *interface, id, args, faults);
    if (!variant)
      return fail(faults);
    for (size_t i = 1; i < what.size(); ++i) {
      const auto parts = split(what[i], '=');
      variant->params.push_back({parts.at(0), std::stoll(parts.at(1))});
    }
    result = runInSeveralOrders(*op, *variant, args);
  }
  if (!result.ok())
    return fail(result.faults);
  for (size_t t = 0; t < op->tensors.size(); ++t)
    if (op->tensors[t].role != sem::Role::Input) {
      std::string error;
      if (!writeNpy(std::string(argv[2]) + "/" + op->tensors[t].name + ".npy", result.tensors[t].at(0),
                    error))
        return fail(error);
    }
  return 0;
}
