// SPDX-License-Identifier: MIT
// `tilegymc explain`: which variant a call would run, why the others lose, and what the winner takes.
#include "BenchCalls.h"
#include "Cards.h"
#include "Explain.h"
#include "Occupancy.h"
#include "UserCall.h"
#include <cstdio>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;

struct Options {
  std::string spec, package, emit, card;
  UserCallOptions call;
  int arch = 0;
  bool cases = false;
};

/// The code that runs; of a plan its first launch's.
const format::Image &imageOf(const PretendedCall &call) {
  return *(call.choice.image ? call.choice.image : call.launches[0].choice.image);
}

int archOf(const PretendedCall &call, const Options &o) { return o.arch ? o.arch : int(imageOf(call).arch); }

json kernelJson(const runtime::Table &table, const format::Op &op, const runtime::Choice &choice,
                const runtime::Grid &grid, const Card *card, int arch) {
  const format::Variant &v = *choice.variant;
  const format::Kernel &kernel = table.get<format::Kernel>(op.kernels)[v.kernel];
  const format::Image &image = *choice.image;
  json out = {{"entry", std::string(table.text(v.entry))},
              {"kernel", std::string(table.text(kernel.name))},
              {"facts", runtime::factsName(table, v)},
              {"knobs", std::string(table.text(v.knobs))},
              {"code", std::string(image.kind ? "PTX for sm_" : "sm_") + std::to_string(image.arch) +
                           (image.exact ? "a" : "")},
              {"threads", v.threads},
              {"registers", v.registers},
              {"shared_bytes", v.sharedBytes},
              {"spill_bytes", v.spillBytes},
              {"grid", json::array()},
              {"blocks", grid.blocks}};
  for (size_t axis = 0; axis < v.grid.count; ++axis)
    out["grid"].push_back(grid.axes[axis]);
  Occupancy held = occupancyOf(arch, v.threads, v.registers, v.sharedBytes);
  if (held.maxWarps) {
    out["occupancy"] = {{"blocks", held.blocks},
                        {"warps", held.warps},
                        {"max_warps", held.maxWarps},
                        {"limited_by", held.limitedBy}};
    if (card && held.blocks)
      out["occupancy"]["waves"] = double(grid.blocks) / double(held.blocks * card->multiprocessors);
  }
  return out;
}

json chosenJson(const PretendedCall &call, const Card *card, int arch) {
  const runtime::Table &table = call.call.table;
  const format::Variant &v = *call.choice.variant;
  if (!v.launches.count)
    return kernelJson(table, call.call.op, call.choice, call.grid, card, arch);
  json out = {
      {"entry", std::string(table.text(v.entry))},
      {"plan", std::string(table.text(table.get<format::Kernel>(call.call.op.kernels)[v.kernel].name))},
      {"knobs", std::string(table.text(v.knobs))},
      {"scratch_bytes", call.scratch.bytes},
      {"launches", json::array()}};
  for (size_t i = 0; i < v.launches.count; ++i) {
    const runtime::PlannedLaunch &launch = call.launches[i];
    out["launches"].push_back(
        kernelJson(table, table.numbered(launch.op), launch.choice, launch.grid, card, arch));
  }
  return out;
}

void addTraffic(const sem::OpModel &op, const sem::TestCall &call, const Card *card, json &j) {
  if (op.spec->bench->none)
    return;
  DiagnosticSink sink;
  sem::BenchModel bench = sem::readBench(op, *op.spec->bench, sink);
  int64_t bytes = hostInteger(bench.bytes, call), flops = hostInteger(bench.flops, call);
  if (bench.bytes)
    j["bytes"] = bytes;
  if (bench.flops)
    j["flops"] = flops;
  if (!card || (!bytes && !flops))
    return;
  DType dtype = op.tensors.empty() ? DType::F32 : call.bound.spec.dtypes[size_t(op.tensors[0].typeVar)];
  j["roofline"] = {{"card", card->name}, {"us", card->roofline(bytes, flops, dtype) * 1e6}};
}

std::string word(const json &j, const char *key) {
  return j[key].is_string() ? j[key].get<std::string>() : j[key].dump();
}

void printKernels(const json &j) {
  for (const json &kernel : j["kernels"]) {
    std::printf("kernel %s", word(kernel, "kernel").c_str());
    if (kernel.contains("when"))
      std::printf(" when %s: %s", word(kernel, "when").c_str(),
                  kernel["guard_holds"].get<bool>() ? "holds" : "does not hold");
    if (kernel.contains("derived"))
      std::printf(", derived %s", kernel["derived"].dump().c_str());
    std::printf("\n");
    size_t others = 0;
    for (const json &v : kernel["variants"])
      if (v["chosen"].get<bool>())
        std::printf("  * %s\n", word(v, "entry").c_str());
      else if (std::string why = word(v, "why_not"); !why.starts_with("for "))
        std::printf("  - %s: %s\n", word(v, "entry").c_str(), why.c_str());
      else
        ++others;
    if (others)
      std::printf("  - %zu more, for other dtypes, sizes or optional tensors (--json lists them)\n", others);
  }
}

void printResources(const json &c) {
  std::printf("  grid       %s blocks of %s threads\n", word(c, "blocks").c_str(),
              word(c, "threads").c_str());
  std::printf("  resources  %s registers, %s bytes of shared memory, %s bytes spilled\n",
              word(c, "registers").c_str(), word(c, "shared_bytes").c_str(), word(c, "spill_bytes").c_str());
  if (c.contains("occupancy")) {
    const json &o = c["occupancy"];
    std::printf("  occupancy  %s blocks a multiprocessor, limited by %s: %s of %s warps",
                word(o, "blocks").c_str(), word(o, "limited_by").c_str(), word(o, "warps").c_str(),
                word(o, "max_warps").c_str());
    if (o.contains("waves"))
      std::printf("; %.2f waves", o["waves"].get<double>());
    std::printf("\n");
  }
}

void printText(const json &j, const CodeStory &story) {
  const json &c = j["chosen"];
  bool isPlan = c.contains("launches");
  std::printf("%s %s\nruns %s (%s)\n", word(j, "op").c_str(), word(j, "call").c_str(),
              word(c, "entry").c_str(),
              isPlan ? "a plan" : (word(c, "facts") + ", " + word(c, "code") + " code").c_str());
  std::printf("  point      %s\n", word(c, "knobs").c_str());
  if (!story.point.empty())
    std::printf("             %s\n", story.point.c_str());
  for (size_t i = 0; i < story.others.size(); ++i)
    std::printf("             %s %s\n", i == 0 ? "others:" : "       ", story.others[i].c_str());
  if (!isPlan)
    printResources(c);
  else
    std::printf("  scratch    %s bytes\n", word(c, "scratch_bytes").c_str());
  for (const json &launch : isPlan ? c["launches"] : json::array()) {
    std::printf("  launches %s (%s, %s code)\n", word(launch, "entry").c_str(), word(launch, "facts").c_str(),
                word(launch, "code").c_str());
    printResources(launch);
  }
  for (const char *amount : {"bytes", "flops"})
    if (j.contains(amount))
      std::printf("  %-9s  %s\n", amount, j[amount].dump().c_str());
  if (j.contains("roofline"))
    std::printf("  roofline   %.2f us on %s\n", j["roofline"]["us"].get<double>(),
                word(j["roofline"], "card").c_str());
  printKernels(j);
  if (j.contains("not_fast_because"))
    std::printf("%s, because %s\n", word(j["chosen"], "facts").c_str(), word(j, "not_fast_because").c_str());
  for (const Diagnostic &remark : story.remarks)
    std::fputs(render(remark).c_str(), stdout);
  if (!story.lacking.empty())
    std::printf("%s\n", story.lacking.c_str());
}

/// What the call lacks for a variant with these facts of the kernel that runs; empty where there is none.
std::string whatIsLacking(const json &chosen, const json &kernels, const std::string &facts) {
  std::string needs = facts + " needs ", best; // the variant that lacks least
  for (const json &kernel : kernels)
    for (const json &v : kernel["variants"])
      if (kernel["kernel"] == chosen["kernel"] && v.contains("why_not"))
        if (std::string why = word(v, "why_not");
            why.starts_with(needs) && (best.empty() || why.size() < best.size()))
          best = why;
  for (size_t at = 1; (at = best.find("; " + needs, at)) != best.npos;)
    best.erase(at + 2, needs.size());
  return best;
}

/// Why the fast variant of the kernel that runs is not the one. What a general one misses to be dense is what keeps it slow.
std::string whyNotFast(const json &chosen, const json &kernels) {
  if (!chosen.contains("facts") || chosen["facts"] == "fast")
    return "";
  std::string why = chosen["facts"] == "general" ? whatIsLacking(chosen, kernels, "dense") : "";
  return why.empty() ? whatIsLacking(chosen, kernels, "fast") : why;
}

json remarksJson(const std::vector<Diagnostic> &remarks) {
  json list = json::array();
  for (const Diagnostic &remark : remarks) {
    json one = {{"message", remark.message}};
    if (const SourceFile *file = remark.range.file) {
      SourceFile::LineColumn at = file->lineColumn(remark.range.begin);
      one["file"] = file->name();
      one["line"] = at.line;
      one["column"] = at.column;
    }
    list.push_back(std::move(one));
  }
  return list;
}

/// Every call of the spec's test and bench sections.
int explainCases(const OpPtr &op, const PackageFile &package, size_t number, const Options &o,
                 const Card *card, const Globals &globals) {
  DiagnosticSink sink;
  std::unique_ptr<OpTests> tests = collectTests(op, {}, sink);
  std::vector<sem::TestCall> calls = std::move(tests->calls);
  if (!op->spec->bench->none) {
    sem::BenchModel bench = sem::readBench(*op, *op->spec->bench, sink);
    for (sem::TestCall &call : sem::benchCalls(*op, bench, sink))
      calls.push_back(std::move(call));
  }
  json list = json::array();
  bool lacking = false;
  for (const sem::TestCall &call : calls) {
    PretendedCall pretended(*op, call, package, number);
    std::string error;
    int code = Ok;
    json one = {{"case", call.name}};
    if (pretended.choose(o.arch, card ? card->multiprocessors : 132, error, code))
      one["entry"] = std::string(pretended.call.table.text(pretended.choice.variant->entry));
    else
      one["error"] = error;
    lacking |= one.contains("error");
    if (!globals.json)
      std::printf("%-40s %s\n", call.name.c_str(),
                  one.contains("entry") ? word(one, "entry").c_str() : ("no variant: " + error).c_str());
    list.push_back(std::move(one));
  }
  if (globals.json)
    std::puts(json({{"op", op->name}, {"cases", list}}).dump(2).c_str());
  return lacking ? CheckFailed : Ok;
}

int explain(const OpPtr &op, const PackageFile &package, const Options &o, const Card *card,
            const Globals &globals) {
  std::optional<size_t> number = package.findOp(op->name);
  if (!number || !package.isOf(*number, *op)) {
    complain(number ? "%s holds %s compiled from another text; compile it again" : "%s has no op %s",
             package.source().c_str(), op->name.c_str());
    return InputWrong;
  }
  if (o.cases)
    return explainCases(op, package, *number, o, card, globals);
  std::unique_ptr<UserCall> user = makeUserCall(*op, o.call);
  if (!user)
    return InputWrong;
  PretendedCall pretended(*op, user->call, package, *number);
  std::string error;
  int code = Ok;
  if (!pretended.choose(o.arch, card ? card->multiprocessors : 132, error, code)) {
    complain("%s", error.c_str());
    return code;
  }
  int arch = archOf(pretended, o);
  if (!card)
    card = cardOfArch(arch);
  json j = {{"op", op->name}, {"call", user->call.name}, {"chosen", chosenJson(pretended, card, arch)}};
  CodeStory story;
  if (code = tellCode(op, word(j["chosen"], "entry"), int(imageOf(pretended).arch), o.emit, story);
      code != Ok)
    return code;
  if (!o.emit.empty()) {
    std::fputs(story.stageText.c_str(), stdout);
    if (story.stageText.empty())
      complain("--emit: %s", story.lacking.c_str());
    return story.stageText.empty() ? CheckFailed : Ok;
  }
  if (!story.point.empty())
    j["chosen"]["point"] = story.point;
  addTraffic(*op, user->call, card, j);
  j["kernels"] = json::array();
  for (uint32_t k = 0; k < pretended.call.op.kernels.count; ++k)
    j["kernels"].push_back(explainKernel(pretended, *op, k, o.arch));
  if (std::string why = whyNotFast(j["chosen"], j["kernels"]); !why.empty())
    j["not_fast_because"] = why;
  j["remarks"] = remarksJson(story.remarks);
  if (globals.json)
    std::puts(j.dump(2).c_str());
  else
    printText(j, story);
  return Ok;
}

int run(const Options &o, const Globals &globals) {
  const Card *card = nullptr;
  if (!o.card.empty() && !(card = findCard(o.card))) {
    complain("--card: found '%s', expected one of %s", o.card.c_str(), knownCards().c_str());
    return InputWrong;
  }
  DiagnosticSink sink;
  std::vector<OpPtr> ops = loadOps({o.spec}, globals, sink);
  if (sink.hasErrors() || ops.empty()) {
    report(sink, globals);
    return InputWrong;
  }
  PackageChoice choice = choosePackage(o.package, ops, o.arch);
  if (choice.code != Ok)
    return choice.code;
  if (!choice.file) {
    complain("%s", choice.lacking.c_str());
    return EnvironmentLacks;
  }
  return explain(ops[0], *choice.file, o, card, globals);
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
  command->add_option("--card", options->card,
                      "The GPU whose rates the roofline takes: " + knownCards() +
                          " (default: the first of the arch)");
  command->add_option("--emit", options->emit,
                      "Print the chosen variant at a stage instead: tile, opt, layout, threads, llvm, ptx");
  command->add_flag("--cases", options->cases,
                    "The variant of each call of the spec's test and bench, a line each");
  command->footer(
      "Tensors are taken to be contiguous and aligned. Remarks say at the spec's lines how memory is "
      "accessed, and why not better.\n\nExamples:\n  tilegymc explain softmax "
      "--shape 4096,1000 --dtype bf16\n"
      "  tilegymc explain softmax --shape R=64 --shape N=50257 --package norms.tgk --json\n"
      "  tilegymc explain softmax --shape 4096,1000 --emit ptx\n  tilegymc explain softmax --cases");
  command->callback([options, &globals] { globals.exitCode = run(*options, globals); });
}

} // namespace tilegym::cli
