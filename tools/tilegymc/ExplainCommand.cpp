// SPDX-License-Identifier: MIT
// `tilegymc explain`: which variant a call would run, why the others lose, and what the winner takes.
#include "DeviceCall.h"
#include "UserCall.h"
#include "VariantFit.h"
#include "runtime/src/KernelLaunch.h"
#include <cstdio>
#include <nlohmann/json.hpp>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;

struct Options {
  std::string spec, package;
  UserCallOptions call;
  int arch = 0;
};

/// Arguments at made-up addresses, as aligned as an allocator's and far apart: nothing is launched.
struct PretendedCall {
  std::vector<interp::Dims> strides;
  std::vector<TilegymTensor> tensors;
  std::vector<uint64_t> scalars;
  std::vector<const void *> arguments;

  PretendedCall(const sem::OpModel &op, const UserCall &user)
      : strides(op.tensors.size()), tensors(op.tensors.size()), scalars(op.scalars.size()) {
    const sem::TestCall &call = user.call;
    for (const sem::Argument &argument : op.arguments) {
      size_t id = size_t(argument.id);
      if (!argument.isTensor) {
        scalars[id] = scalarArgument(op, call, id, user.inputs.scalars[id]);
        arguments.push_back(&scalars[id]);
      } else if (!call.bound.spec.present[id]) {
        arguments.push_back(nullptr);
      } else {
        const interp::Dims &shape = call.bound.shapes[id][0];
        strides[id] = interp::contiguousStrides(shape);
        DType dtype = call.bound.spec.dtypes[size_t(op.tensors[id].typeVar)];
        tensors[id] = {reinterpret_cast<void *>((id + 1) << 44), shape.data(), strides[id].data(),
                       int32_t(shape.size()), int32_t(dtype)};
        arguments.push_back(&tensors[id]);
      }
    }
  }
};

/// A part of the spec's text on one line.
std::string guardText(const sem::KernelModel &kernel) {
  if (!kernel.decl || !kernel.decl->when)
    return "";
  SourceRange range = kernel.decl->when->range;
  return range.file ? std::string(range.file->text().substr(range.begin, range.end - range.begin)) : "";
}

/// One kernel: its guard, derived parameters, and its variants with why they lose.
json explainKernel(const runtime::Call &call, const sem::OpModel &op, uint32_t k,
                   const runtime::Choice &choice, int arch) {
  const runtime::Table &table = call.table;
  const format::Kernel &kernel = table.get<format::Kernel>(call.op.kernels)[k];
  std::string name(table.text(kernel.name));
  json out = {{"kernel", name}};
  KernelFit fits = fitOf(call, k);
  for (const sem::KernelModel &model : op.kernels)
    if (std::string text = guardText(model); model.name == name && !text.empty())
      out["when"] = text;
  out["guard_holds"] = fits.guardHolds;
  std::span<const format::Slice> names = table.get<format::Slice>(kernel.paramNames);
  for (size_t p = 0; p < names.size(); ++p)
    if (fits.derived[p] != format::kRunTime)
      out["derived"][std::string(table.text(names[p]))] = fits.derived[p];
  out["variants"] = json::array();
  std::span<const format::Variant> variants = table.get<format::Variant>(call.op.variants);
  for (const format::Variant &v : variants) {
    if (v.kernel != k)
      continue;
    std::string why = whyNot(call, v, fits, arch);
    bool chosen = choice.variant == &v;
    if (!chosen && why.empty())
      why = choice.variant && choice.variant->kernel < k ? "an earlier kernel takes the call"
                                                         : "a more special variant takes the call";
    json one = {{"entry", std::string(table.text(v.entry))}, {"chosen", chosen}};
    if (!chosen)
      one["why_not"] = why;
    out["variants"].push_back(std::move(one));
  }
  return out;
}

int64_t benchAmount(const sem::ExprPtr &e, const sem::TestCall &call) {
  sem::Evaluated value = sem::evaluateHost(*e, call.bound.values);
  return value && !value.unknown ? value.value->asInt() : 0;
}

json explainChosen(const runtime::Call &call, const runtime::Choice &choice, const runtime::Grid &grid) {
  const runtime::Table &table = call.table;
  const format::Variant &v = *choice.variant;
  const format::Kernel &kernel = table.get<format::Kernel>(call.op.kernels)[v.kernel];
  json out = {{"entry", std::string(table.text(v.entry))},
              {"kernel", std::string(table.text(kernel.name))},
              {"facts", v.facts == format::kFactsFast ? "fast" : "general"},
              {"knobs", std::string(table.text(v.knobs))},
              {"code", std::string(choice.image->kind ? "PTX for sm_" : "sm_") +
                           std::to_string(choice.image->arch) + (choice.image->exact ? "a" : "")},
              {"threads", v.threads},
              {"registers", v.registers},
              {"shared_bytes", v.sharedBytes},
              {"spill_bytes", v.spillBytes},
              {"grid", json::array()},
              {"blocks", grid.blocks}};
  for (size_t axis = 0; axis < v.grid.count; ++axis)
    out["grid"].push_back(grid.axes[axis]);
  return out;
}

void printText(const json &j) {
  const json &c = j["chosen"];
  std::printf("%s %s\nruns %s (%s, %s code)\n  %s; %s threads, %s registers, %s bytes of shared memory, %s "
              "bytes spilled\n  %s blocks\n",
              j["op"].get<std::string>().c_str(), j["call"].get<std::string>().c_str(),
              c["entry"].get<std::string>().c_str(), c["facts"].get<std::string>().c_str(),
              c["code"].get<std::string>().c_str(), c["knobs"].get<std::string>().c_str(),
              c["threads"].dump().c_str(), c["registers"].dump().c_str(), c["shared_bytes"].dump().c_str(),
              c["spill_bytes"].dump().c_str(), c["blocks"].dump().c_str());
  for (const char *amount : {"bytes", "flops"})
    if (j.contains(amount))
      std::printf("  %s %s\n", j[amount].dump().c_str(), amount);
  for (const json &kernel : j["kernels"]) {
    std::printf("kernel %s", kernel["kernel"].get<std::string>().c_str());
    if (kernel.contains("when"))
      std::printf(" when %s: %s", kernel["when"].get<std::string>().c_str(),
                  kernel["guard_holds"].get<bool>() ? "holds" : "does not hold");
    if (kernel.contains("derived"))
      std::printf(", derived %s", kernel["derived"].dump().c_str());
    std::printf("\n");
    for (const json &v : kernel["variants"])
      std::printf("  %s %s%s%s\n", v["chosen"].get<bool>() ? "*" : "-", v["entry"].get<std::string>().c_str(),
                  v["chosen"].get<bool>() ? "" : ": ",
                  v["chosen"].get<bool>() ? "" : v["why_not"].get<std::string>().c_str());
  }
}

int explain(const OpPtr &op, const UserCall &user, const PackageFile &package, int arch,
            const Globals &globals) {
  std::optional<size_t> number = package.findOp(op->name);
  if (!number || !package.isOf(*number, *op)) {
    complain(number ? "%s holds %s compiled from another text; compile it again" : "%s has no op %s",
             package.source().c_str(), op->name.c_str());
    return InputWrong;
  }
  PretendedCall pretended(*op, user);
  auto call = std::make_unique<runtime::Call>(package.table(), package.table().ops()[*number]);
  runtime::Choice choice;
  runtime::Grid grid;
  call->smCount = 132; // an H200's stand for those of the GPU that is not asked
  if (TilegymStatus status = call->bind(pretended.arguments.data(), false);
      status != TILEGYM_OK ||
      (status = runtime::choose(*call, arch, "as asked for", &choice)) != TILEGYM_OK ||
      (status = runtime::computeGrid(*call, choice, &grid)) != TILEGYM_OK) {
    complain("%s", tilegym_last_error());
    return status == TILEGYM_INVALID_ARGUMENT ? InputWrong : EnvironmentLacks;
  }
  json j = {{"op", op->name}, {"call", user.call.name}, {"chosen", explainChosen(*call, choice, grid)}};
  if (op->spec->bench && !op->spec->bench->none) {
    DiagnosticSink sink;
    sem::BenchModel bench = sem::readBench(*op, *op->spec->bench, sink);
    if (bench.bytes)
      j["bytes"] = benchAmount(bench.bytes, user.call);
    if (bench.flops)
      j["flops"] = benchAmount(bench.flops, user.call);
  }
  j["kernels"] = json::array();
  for (uint32_t k = 0; k < call->op.kernels.count; ++k)
    j["kernels"].push_back(explainKernel(*call, *op, k, choice, arch));
  if (globals.json)
    std::puts(j.dump(2).c_str());
  else
    printText(j);
  return Ok;
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
  PackageChoice choice = choosePackage(o.package, ops, o.arch);
  if (choice.code != Ok)
    return choice.code;
  if (!choice.file) {
    complain("%s", choice.lacking.c_str());
    return EnvironmentLacks;
  }
  return explain(ops[0], *user, *choice.file, o.arch, globals);
}

} // namespace

void addExplainCommand(CLI::App &app, Globals &globals) {
  auto options = std::make_shared<Options>();
  options->call.needData = false;
  CLI::App *command = app.add_subcommand(
      "explain", "Say which variant a call would run, why the others lose, and what it takes");
  command->add_option("OP", options->spec, "Spec: a path or a name")->required();
  addUserCallOptions(*command, options->call);
  command->add_option("--package", options->package, "A package (.tgk) to ask, instead of compiling here");
  command->add_option(
      "--arch", options->arch,
      "As on a GPU of this compute capability, such as 90 (default: the one each variant is for)");
  command->footer("Tensors are taken to be contiguous and aligned.\n\nExamples:\n  tilegymc explain softmax "
                  "--shape 4096,1000 --dtype bf16\n"
                  "  tilegymc explain softmax --shape R=64 --shape N=50257 --package norms.tgk --json");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
