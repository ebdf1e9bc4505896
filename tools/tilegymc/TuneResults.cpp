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

std::vector<std::string> CallResults::toCheck(const std::vector<std::string> &entries) const {
  std::vector<std::string> unknown;
  for (const std::string &entry : entries)
    if (!right.count(entry) && !failed.count(entry))
      unknown.push_back(entry);
  return unknown;
}

std::pair<size_t, std::vector<std::string>> CallResults::due(const std::vector<std::string> &entries) const {
  std::vector<std::string> alive;
  for (const std::string &entry : entries)
    if (!failed.count(entry))
      alive.push_back(entry);
  for (size_t r = 0; r < kIterations.size(); ++r) {
    std::vector<std::string> missing;
    std::vector<double> times;
    for (const std::string &entry : alive)
      if (r < rounds.size() && rounds[r].microseconds.count(entry))
        times.push_back(rounds[r].microseconds.at(entry));
      else
        missing.push_back(entry);
    if (!missing.empty())
      return {r, missing};
    std::sort(times.begin(), times.end());
    double limit = times.empty() ? 0 : std::max(times[(times.size() - 1) / 2], times[0] * kClose);
    std::erase_if(alive, [&](const std::string &entry) { return rounds[r].microseconds.at(entry) > limit; });
  }
  return {kIterations.size(), {}};
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
  if (line.contains("right"))
    for (const Json &entry : line["right"])
      right.insert(entry.get<std::string>());
  done |= line.value("done", false);
  if (line.contains("us")) {
    size_t number = line.at("round");
    rounds.resize(std::max(rounds.size(), number + 1));
    Round &round = rounds[number];
    double copy = line.at("copy_us");
    if (round.copyMicroseconds == 0)
      round.copyMicroseconds = copy;
    double clocks = copy > 0 ? round.copyMicroseconds / copy : 1; // another sitting's may be others
    for (const auto &[entry, time] : line["us"].items())
      round.microseconds[entry] = time.get<double>() * clocks;
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

bool TuneResults::open(const std::string &path, const Json &header, const TunePlan &plan) {
  std::optional<std::string> old = readFile(path);
  size_t whole = old ? old->rfind('\n') : std::string::npos;
  if (whole != std::string::npos) {
    std::error_code ec;
    std::filesystem::resize_file(path, whole + 1, ec);
    if (!read(path))
      return false;
    for (const char *key : {"card", "driver"})
      if (first[key] != header[key]) {
        complain("'%s' has results for the %s %s, but this is %s: measure into another folder, or remove it",
                 path.c_str(), key, first[key].dump().c_str(), header[key].dump().c_str());
        return false;
      }
    if (first["plan"] != header["plan"] && !carryOver(header, plan))
      return false;
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

bool TuneResults::carryOver(const Json &header, const TunePlan &plan) {
  std::map<std::string, std::string> codes; // what each entry is now
  for (const TuneOp &op : plan.ops)
    for (const TunePoint &point : op.points)
      codes[point.entry] = point.code;
  Json before = first.value("codes", Json::object());
  auto isSame = [&](const std::string &entry) {
    return before.contains(entry) && codes.count(entry) && before[entry] == codes[entry];
  };
  auto kept = [&](const Json &group) {
    Json out = group.is_array() ? Json::array() : Json::object();
    for (const auto &[key, value] : group.items()) {
      if (group.is_array() && isSame(value.get<std::string>()))
        out.push_back(value);
      else if (!group.is_array() && isSame(key))
        out[key] = value;
    }
    return out;
  };
  std::string text = header.dump() + "\n";
  std::map<std::pair<std::string, std::string>, CallResults> old;
  std::swap(old, calls);
  for (auto &[key, call] : old)
    for (Json line : call.lines) {
      if (line.contains("done"))
        continue;
      for (const char *group : {"right", "failed", "us"})
        if (line.contains(group))
          line[group] = kept(line[group]);
      calls[key].take(line);
      text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
  first = header;
  return writeFile(name, text);
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

Json checkedLine(const std::string &op, const std::string &call, const std::vector<std::string> &right,
                 const std::map<std::string, std::string> &failed) {
  return {{"op", op}, {"call", call}, {"right", right}, {"failed", Json(failed)}};
}

Json lostLine(const std::string &op, const std::string &call, const std::string &entry,
              const std::string &why) {
  return {{"op", op}, {"call", call}, {"failed", {{entry, why}}}};
}

Json roundLine(const std::string &op, const std::string &call, size_t number,
               const CallResults::Round &round) {
  return {{"op", op},
          {"call", call},
          {"round", number},
          {"copy_us", round.copyMicroseconds},
          {"us", Json(round.microseconds)}};
}

Json doneLine(const std::string &op, const std::string &call) {
  return {{"op", op}, {"call", call}, {"done", true}};
}

} // namespace tilegym::cli
