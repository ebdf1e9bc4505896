// SPDX-License-Identifier: MIT
// `tilegymc run`: one call of an op, on the GPU where there is one, else in the interpreter.
#include "DeviceCall.h"
#include "UserCall.h"
#include "compiler/interpreter/CaseRunner.h"
#include "compiler/interpreter/Npy.h"
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace tilegym::cli {
namespace {

using Tensors = std::vector<std::vector<interp::HostTensor>>;
using json = nlohmann::ordered_json;

struct Options {
  std::string spec, backend = "auto", package, out;
  UserCallOptions call;
};

struct Result {
  Tensors tensors;
  std::string where; ///< what ran it
  int code = Ok;
};

Result failed(const std::string &text, int code) {
  complain("%s", text.c_str());
  Result result;
  result.code = code;
  return result;
}

Result runOnGpu(const sem::OpModel &op, const UserCall &user, const Gpu &gpu, const PackageFile &package) {
  std::optional<size_t> number = package.findOp(op.name);
  if (!number)
    return failed(package.source() + " has no op " + op.name, InputWrong);
  if (!package.isOf(*number, op))
    return failed(package.source() + " holds " + op.name + " compiled from another text; compile it again",
                  InputWrong);
  DeviceCall call(gpu, op, user.call, user.inputs);
  std::string error;
  if (!call.upload(interp::Spread::Dense, 0, std::byte{0xff}, error))
    return failed(error, EnvironmentLacks);
  const void *const *args = call.arguments().data();
  const char *variant = "";
  TilegymStatus status = tilegym_call(package.handle(), *number, args, nullptr);
  if (status != TILEGYM_OK)
    return failed(tilegym_last_error(), status == TILEGYM_INVALID_ARGUMENT ? InputWrong
                                        : status == TILEGYM_CUDA_ERROR     ? CheckFailed
                                                                           : EnvironmentLacks);
  if (runtime::CUresult ran = gpu.driver->streamSynchronize(nullptr); ran != runtime::kSuccess)
    return failed(gpu.text("the kernel's run", ran), CheckFailed);
  std::vector<std::string> damages;
  std::optional<Tensors> out = call.download(damages, error);
  if (!out)
    return failed(error, CheckFailed);
  for (const std::string &damage : damages)
    complain("%s", damage.c_str());
  tilegym_explain(package.handle(), *number, args, &variant);
  return {std::move(*out), std::string(gpu.device->name) + ": " + variant,
          damages.empty() ? Ok : CheckFailed};
}

/// The first kernel that takes the call, at one point of its space.
Result runInInterpreter(const sem::OpModel &op, const UserCall &user, const std::string &why) {
  interp::InterpreterBackend::Options options;
  options.pointsPerKernel = 1;
  std::vector<interp::Fault> faults;
  std::vector<int64_t> kernels = interp::eligibleKernels(op, user.call.bound.spec, user.inputs, faults);
  if (kernels.empty() && faults.empty())
    return failed(op.name + ": no kernel takes this call; every kernel's `when` is false", InputWrong);
  if (!kernels.empty())
    options.onlyKernels = {op.kernels[size_t(kernels[0])].name};
  interp::BackendRun run = interp::InterpreterBackend(op, options).run(user.call, user.inputs);
  for (interp::Outcome &outcome : run.outcomes) {
    for (const interp::Fault &fault : outcome.faults)
      std::fputs((render(interp::toDiagnostic(fault), isTerminal()) + "\n").c_str(), stderr);
    if (!outcome.faults.empty())
      return {{}, "", CheckFailed};
    return {std::move(outcome.tensors),
            "interpreter" + (why.empty() ? "" : " (" + why + ")") + ": " + outcome.variant, Ok};
  }
  return failed(op.name + ": " + run.skipped, CheckFailed);
}

Result runSomewhere(const Options &o, const OpPtr &op, const UserCall &user) {
  if (o.backend == "interpreter")
    return runInInterpreter(*op, user, "");
  std::string why;
  std::optional<Gpu> gpu = findGpu(why);
  if (gpu || !o.package.empty()) { // a bad package is refused without a GPU, too
    PackageChoice choice = choosePackage(o.package, {op}, gpu ? gpu->device->arch : 0);
    if (choice.code != Ok)
      return {{}, "", choice.code};
    if (gpu && choice.file)
      return runOnGpu(*op, user, *gpu, *choice.file);
    why = gpu ? choice.lacking : why;
  }
  if (o.backend == "gpu")
    return failed(why, EnvironmentLacks);
  return runInInterpreter(*op, user, why);
}

std::string firstElements(const interp::HostTensor &tensor) {
  std::string text;
  int64_t count = tensor.numElements(), shown = std::min<int64_t>(count, 6);
  for (int64_t i = 0; i < shown; ++i)
    text += (i ? ", " : "") + interp::valueText(tensor.dtype, tensor.bits(i));
  return text + (count > shown ? ", ..." : "");
}

int writeOut(const Options &o, const sem::OpModel &op, const Tensors &tensors) {
  std::error_code ec;
  std::filesystem::create_directories(o.out, ec);
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    if (op.tensors[id].role == sem::Role::Input || tensors[id].empty())
      continue;
    for (size_t i = 0; i < tensors[id].size(); ++i) {
      std::string called = op.tensors[id].name + (op.tensors[id].isList ? "." + std::to_string(i) : "");
      if (!writeFile(o.out + "/" + called + ".npy", interp::encodeNpy(tensors[id][i])))
        return EnvironmentLacks;
    }
  }
  return Ok;
}

void print(const sem::OpModel &op, const UserCall &user, const Result &result, const Globals &globals) {
  json j = {{"op", op.name}, {"call", user.call.name}, {"ran_on", result.where}, {"outputs", json::object()}};
  if (!globals.json)
    std::printf("%s %s\non %s\n", op.name.c_str(), user.call.name.c_str(), result.where.c_str());
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    if (op.tensors[id].role == sem::Role::Input || result.tensors[id].empty())
      continue;
    for (size_t i = 0; i < result.tensors[id].size(); ++i) {
      const interp::HostTensor &tensor = result.tensors[id][i];
      std::string name = op.tensors[id].name + (op.tensors[id].isList ? "[" + std::to_string(i) + "]" : "");
      j["outputs"][name] = {{"dtype", std::string(tilegym::name(tensor.dtype))}, {"shape", tensor.shape}};
      if (!globals.json)
        std::printf("%s: %s = %s\n", name.c_str(), typeText(tensor.dtype, tensor.shape).c_str(),
                    firstElements(tensor).c_str());
    }
  }
  if (globals.json)
    std::puts(j.dump(2).c_str());
}

int run(const Options &o, const Globals &globals) {
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps({o.spec}, globals, sink);
  if (sink.hasErrors() || ops.empty()) {
    report(sink, globals);
    return InputWrong;
  }
  std::unique_ptr<UserCall> user = makeUserCall(*ops[0], o.call);
  if (!user)
    return InputWrong;
  Result result = runSomewhere(o, ops[0], *user);
  if (result.tensors.empty())
    return result.code;
  print(*ops[0], *user, result, globals);
  int written = o.out.empty() ? Ok : writeOut(o, *ops[0], result.tensors);
  return written == Ok ? result.code : written;
}

} // namespace

void addRunCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  CLI::App *command = app.add_subcommand(
      "run",
      "Run an op once, on generated or given inputs: on the GPU if there is one, else in the interpreter");
  command->add_option("OP", options->spec, "Spec: a path or a name")->required();
  addUserCallOptions(*command, options->call);
  command->add_option("--backend", options->backend, "auto, gpu or interpreter")
      ->check(CLI::IsMember({"auto", "gpu", "interpreter"}));
  command->add_option("--package", options->package,
                      "A package (.tgk) to run from, instead of compiling here");
  command->add_option("--out", options->out, "Folder for the outputs, as NAME.npy");
  command->footer("Examples:\n  tilegymc run softmax --shape 64,1000 --dtype bf16\n  tilegymc run rms_norm "
                  "x=in.npy weight=w.npy eps=1e-5 --out results\n"
                  "  tilegymc run softmax --shape x=8,128 --backend interpreter --json");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
