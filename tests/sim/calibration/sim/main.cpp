// SPDX-License-Identifier: MIT
// `calibrate-sim KERNELS DATA [only TEXT] [seeds N] [show N]`: every calibration kernel in the simulator against what a GPU gave. KERNELS has the .mlir files
// and an object file for the simulator beside each; DATA has the GPU's results (*.txt). Prints a table; fails where a kernel disagrees.
#include "../KernelRecord.h"
#include "../KernelRun.h"
#include "compiler/simulator/TensorMap.h"
#include "tools/simdriver/SimDriver.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>

using namespace tilegym;
using namespace tilegym::calibration;

namespace {

sim::TensorType tensorType(Element type) {
  switch (type) {
  case Element::U16:
    return sim::TensorType::U16;
  case Element::U32:
    return sim::TensorType::U32;
  case Element::S32:
    return sim::TensorType::S32;
  case Element::U64:
    return sim::TensorType::U64;
  case Element::F16:
    return sim::TensorType::F16;
  case Element::BF16:
    return sim::TensorType::BF16;
  case Element::F32:
  case Element::TF32:
    return sim::TensorType::F32;
  case Element::F64:
    return sim::TensorType::F64;
  default:
    return sim::TensorType::U8;
  }
}

calibration::TensorMapBytes encodeMap(const MapPlan &plan, uint64_t address) {
  sim::TensorMap map;
  map.address = address;
  map.rank = int(plan.dims.size());
  map.type = tensorType(plan.type);
  map.swizzle = sim::Swizzle(plan.swizzle);
  map.fillNaN = plan.fillNaN;
  std::copy(plan.strides.begin(), plan.strides.end(), map.strides.begin());
  std::copy(plan.dims.begin(), plan.dims.end(), map.extents.begin());
  std::copy(plan.box.begin(), plan.box.end(), map.box.begin());
  std::copy(plan.elementStrides.begin(), plan.elementStrides.end(), map.elementStrides.begin());
  if (auto fault = sim::tensorMapFault(map))
    throw std::runtime_error(*fault);
  auto encoded = sim::encodeTensorMap(map);
  calibration::TensorMapBytes bytes;
  std::memcpy(&bytes, &encoded, sizeof bytes);
  return bytes;
}

constexpr int skippedExitCode = 77; // as ctest is told

struct Tally {
  unsigned agree = 0, disagree = 0, skipped = 0;
};

std::string described(const Judge &how) {
  char text[64];
  if (how.kind == Judge::Bits)
    return "bits";
  if (how.kind == Judge::Numbers)
    return "numbers";
  if (how.kind == Judge::Ulp)
    std::snprintf(text, sizeof text, "%g ulp", how.ulp);
  else
    std::snprintf(text, sizeof text, "%.3g + %.3g x", how.absolute, how.relative);
  return text;
}

void printRow(const KernelPlan &plan, const std::string &how, const std::string &error,
              const std::string &verdict) {
  std::printf("%-12s %-30s %-18s %-16s %s\n", plan.file.c_str(), plan.name.c_str(), how.c_str(),
              error.c_str(), verdict.c_str());
}

void printValues(const Buffer &buffer, const std::vector<uint8_t> &expected,
                 const std::vector<uint8_t> &found, size_t show) {
  unsigned bytes = bytesOf(buffer.type);
  for (size_t i = 0; i < buffer.count && show; ++i) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, &expected[i * bytes], bytes);
    std::memcpy(&b, &found[i * bytes], bytes);
    if (a == b)
      continue;
    --show;
    std::printf("    [%zu] GPU %0*llX (%.9g), simulator %0*llX (%.9g)\n", i, int(bytes * 2),
                (unsigned long long)a, valueOf(buffer.type, a), int(bytes * 2), (unsigned long long)b,
                valueOf(buffer.type, b));
  }
}

void compare(const KernelPlan &plan, const KernelRecord &record,
             const std::vector<std::vector<uint8_t>> &outputs, size_t show, Tally &tally) {
  size_t next = 0;
  for (const Buffer &buffer : plan.buffers) {
    if (!buffer.isOutput)
      continue;
    const std::vector<uint8_t> &found = outputs[next];
    if (next >= record.outputs.size() || record.outputs[next].first != buffer.type ||
        record.outputs[next].second.size() != found.size()) {
      printRow(plan, described(buffer.judge), "", "FAIL: the data is of another form; take it anew on a GPU");
      ++tally.disagree;
      return;
    }
    const std::vector<uint8_t> &expected = record.outputs[next++].second;
    Judgement result = judge(buffer.type, buffer.judge, expected, found);
    char error[64];
    std::snprintf(error, sizeof error, "%.4g (%zu of %zu)", result.worst, result.different, buffer.count);
    printRow(plan, described(buffer.judge), error, result.wrong ? "FAIL" : "ok");
    ++(result.wrong ? tally.disagree : tally.agree);
    if (result.wrong || show > 8)
      printValues(buffer, expected, found, show);
  }
}

void simulate(const KernelPlan &plan, const std::string &folder, uint64_t seed,
              const std::map<std::string, KernelRecord> &records, size_t show, Tally &tally) {
  simdriver::Settings settings;
  settings.seed = seed;
  simdriver::Session session(settings);
  Platform platform;
  platform.encodeMap = encodeMap;
  platform.driver = &session.driver();
  auto record = records.find(plan.file + " " + plan.name);
  bool isKnown = record != records.end();
  std::vector<std::vector<uint8_t>> outputs;
  std::string refusal;
  try {
    if (runtime::currentDevice(*platform.driver, nullptr, &platform.device) != TILEGYM_OK)
      throw std::runtime_error(runtime::lastError());
    outputs = runKernel(plan, readFile(folder + "/" + plan.file + ".o"), platform);
  } catch (const std::exception &error) {
    refusal = error.what();
  }
  // What the GPU refuses, the simulator must refuse too, and nothing else.
  if (!refusal.empty() || (isKnown && !record->second.error.empty())) {
    bool agree = !refusal.empty() && isKnown && !record->second.error.empty();
    printRow(plan, "refused", "",
             agree             ? "ok"
             : refusal.empty() ? "FAIL: the GPU refused it: " + record->second.error
                               : "FAIL: " + refusal);
    ++(agree ? tally.agree : tally.disagree);
    return;
  }
  if (!isKnown) {
    printRow(plan, "", "", "skipped: no data of a GPU yet");
    ++tally.skipped;
    return;
  }
  compare(plan, record->second, outputs, show, tally);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 3 || argc % 2 == 0) {
    std::cerr << "usage: calibrate-sim KERNELS DATA [only TEXT] [seeds N] [show N]\n";
    return 2;
  }
  std::string only;
  uint64_t seeds = 1;
  size_t show = 8;
  for (int i = 3; i + 1 < argc; i += 2) {
    std::string option = argv[i];
    if (option == "only")
      only = argv[i + 1];
    else if (option == "seeds")
      seeds = std::stoull(argv[i + 1]);
    else if (option == "show")
      show = std::stoull(argv[i + 1]);
    else {
      std::cerr << "'" << option << "' is no option: expected 'only', 'seeds' or 'show'\n";
      return 2;
    }
  }
  try {
    std::vector<KernelPlan> plans = readPlans(argv[1]);
    std::map<std::string, KernelRecord> records;
    if (std::filesystem::is_directory(argv[2]))
      for (const auto &entry : std::filesystem::directory_iterator(argv[2]))
        if (entry.path().extension() == ".txt")
          readRecords(entry.path().string(), records);
    Tally tally;
    for (const KernelPlan &plan : plans)
      if ((plan.file + " " + plan.name).find(only) != std::string::npos)
        for (uint64_t seed = 0; seed < seeds; ++seed)
          simulate(plan, argv[1], seed, records, show, tally);
    std::printf("%zu kernels: %u outputs agree, %u disagree, %u kernels skipped\n", plans.size(), tally.agree,
                tally.disagree, tally.skipped);
    return tally.disagree || plans.empty() ? 1 : tally.agree ? 0 : skippedExitCode;
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
