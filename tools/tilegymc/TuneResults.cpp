// SPDX-License-Identifier: MIT
// Reads, adds and weighs results. A last line without its end is a run's that was killed while it wrote: it is dropped.
#include "TuneResults.h"
#include <algorithm>
#include <filesystem>

namespace tilegym::cli {

const std::vector<unsigned> kIterations = {7, 15, 31};

namespace {

constexpr double kClose = 1.02; ///< so near the best of a round, a point stays

} // namespace

std::string resultsPath(const std::string &folder) { return folder + "/results.jsonl"; }

std::vector<std::string> CallResults::survivors(const std::vector<std::string> &entries) const {
  std::vector<std::string> alive;
  if (rounds.empty()) {
    for (const std::string &entry : entries)
      if (!failed.count(entry))
        alive.push_back(entry);
    return alive;
  }
  const std::map<std::string, double> &last = rounds.back().microseconds;
  std::vector<double> times;
  for (const auto &[entry, time] : last)
    times.push_back(time);
  std::sort(times.begin(), times.end());
  double limit = times.empty() ? 0 : std::max(times[(times.size() - 1) / 2], times[0] * kClose);
  for (const std::string &entry : entries)
    if (auto found = last.find(entry); found != last.end() && found->second <= limit && !failed.count(entry))
      alive.push_back(entry);
  return alive;
}

bool CallResults::isDone(const std::vector<std::string> &entries) const {
  return checked && (rounds.size() == kIterations.size() || survivors(entries).empty());
}

std::map<std::string, double> CallResults::ratios() const {
  std::map<std::string, double> result;
  for (const Round &round : rounds) {
    double best = 0;
    for (const auto &[entry, time] : round.microseconds)
      best = best == 0 ? time : std::min(best, time);
    for (const auto &[entry, time] : round.microseconds)
      if (!failed.count(entry) && best > 0)
        result[entry] = time / best;
  }
  return result;
}

TuneResults::~TuneResults() {
  if (file)
    std::fclose(file);
}

const CallResults *TuneResults::find(const std::string &op, const std::string &call) const {
  auto found = calls.find({op, call});
  return found == calls.end() ? nullptr : &found->second;
}

void CallResults::take(const Json &line) {
  if (line.contains("failed"))
    for (const auto &[entry, why] : line["failed"].items())
      failed[entry] = why;
  checked |= line.value("checked", false);
  if (line.contains("us")) {
    Round round;
    round.copyMicroseconds = line.at("copy_us");
    for (const auto &[entry, time] : line["us"].items())
      round.microseconds[entry] = time;
    rounds.push_back(std::move(round));
  }
  lines.push_back(line);
}

bool TuneResults::read(const std::string &path) {
  name = path;
  std::optional<std::string> text = readFile(path);
  if (!text || text->empty()) {
    complain("there are no results in '%s': measure where the GPU is, with `tilegymc tune --measure`",
             path.c_str());
    return false;
  }
  size_t number = 0;
  try {
    for (size_t at = 0, end; (end = text->find('\n', at)) != std::string::npos; at = end + 1) {
      Json line = Json::parse(text->substr(at, end - at));
      if (number++ == 0)
        first = std::move(line);
      else
        of(line.at("op"), line.at("call")).take(line);
    }
    for (const char *key : {"plan", "arch", "card", "driver", "date"})
      first.at(key);
  } catch (const Json::exception &error) {
    complain("'%s' line %zu is no result of `tune --measure`: %s", path.c_str(), number + 1, error.what());
    return false;
  }
  return true;
}

bool TuneResults::open(const std::string &path, const Json &header) {
  std::optional<std::string> old = readFile(path);
  size_t whole = old ? old->rfind('\n') : std::string::npos;
  if (whole != std::string::npos) {
    std::error_code ec;
    std::filesystem::resize_file(path, whole + 1, ec);
    if (!read(path))
      return false;
    for (const char *key : {"plan", "card", "driver"})
      if (first[key] != header[key]) {
        complain("'%s' has results for the %s %s, but this is %s: measure into another folder, or remove it",
                 path.c_str(), key, first[key].dump().c_str(), header[key].dump().c_str());
        return false;
      }
    file = std::fopen(path.c_str(), "ab");
  } else {
    name = path;
    first = header;
    file = std::fopen(path.c_str(), "wb");
  }
  if (!file)
    complain("cannot write '%s'", path.c_str());
  return file && (whole != std::string::npos || append(header));
}

bool TuneResults::append(const Json &line) {
  std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0)
    return true;
  complain("cannot write '%s': is the disk full?", name.c_str());
  return false;
}

bool TuneResults::add(const Json &line) {
  of(line.at("op"), line.at("call")).take(line);
  return append(line);
}

Json checkedLine(const std::string &op, const std::string &call,
                 const std::map<std::string, std::string> &failed) {
  return {{"op", op}, {"call", call}, {"checked", true}, {"failed", Json(failed)}};
}

Json lostLine(const std::string &op, const std::string &call, const std::string &entry,
              const std::string &why) {
  return {{"op", op}, {"call", call}, {"failed", {{entry, why}}}};
}

Json roundLine(const std::string &op, const std::string &call, const CallResults &known,
               const CallResults::Round &round) {
  return {{"op", op},
          {"call", call},
          {"round", known.rounds.size()},
          {"copy_us", round.copyMicroseconds},
          {"us", Json(round.microseconds)}};
}

} // namespace tilegym::cli
