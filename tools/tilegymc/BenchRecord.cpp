// SPDX-License-Identifier: MIT
// A row a line, so that a diff shows which benchmarks another measurement changed.
#include "BenchRecord.h"
#include <algorithm>
#include <filesystem>

namespace tilegym::cli {
namespace {

/// Peers are measured anew each time; the copy says which clocks the card had.
bool isRecorded(const BenchColumn &column) { return column.name == "ours" || column.name == "copy"; }

std::string recordText(BenchRun run) {
  run.peers = "not recorded";
  for (BenchRow &row : run.rows)
    std::erase_if(row.columns, [](const BenchColumn &column) { return !isRecorded(column); });
  return jsonByLines(run.json(), "rows");
}

} // namespace

std::string recordPath(const sem::OpModel &op, const std::string &device) {
  std::filesystem::path folder = std::filesystem::path(op.spec->file->name()).parent_path();
  std::string card = device;
  std::replace_if(card.begin(), card.end(), [](char c) { return c == ' ' || c == '/'; }, '-');
  return (folder / ".." / "kernels" / "measured" / card / (op.name + ".json")).lexically_normal().string();
}

bool recordRun(const BenchRun &run, const std::vector<OpPtr> &ops, bool quiet) {
  for (const OpPtr &op : ops) {
    BenchRun part = run.of(op->name);
    if (part.rows.empty())
      continue; // `bench none`
    for (const BenchRow &row : part.rows)
      if (!row.isTimed()) {
        complain("%s is not recorded, as %s has no time: %s", op->name.c_str(), row.name.c_str(),
                 row.failure.c_str());
        return false;
      }
    std::string path = recordPath(*op, run.device);
    std::error_code ec;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ec);
    if (!writeFile(path, recordText(part)))
      return false;
    if (!quiet)
      std::printf("recorded %s\n", path.c_str());
  }
  return true;
}

std::optional<BenchRun> readRecords(const std::vector<OpPtr> &ops, const std::string &device,
                                    std::vector<OpPtr> &missing) {
  BenchRun all;
  all.device = device;
  for (const OpPtr &op : ops) {
    if (!op->spec->bench || op->spec->bench->none)
      continue;
    std::string path = recordPath(*op, device);
    std::error_code ec;
    if (!std::filesystem::exists(path, ec)) {
      missing.push_back(op);
      continue;
    }
    std::optional<BenchRun> one = readBenchRun(path);
    if (!one)
      return std::nullopt;
    if (one->device != device) {
      complain("'%s' was recorded on a %s", path.c_str(), one->device.c_str());
      return std::nullopt;
    }
    all.date = all.date.empty() ? one->date : std::min(all.date, one->date);
    std::move(one->rows.begin(), one->rows.end(), std::back_inserter(all.rows));
  }
  return all;
}

} // namespace tilegym::cli
