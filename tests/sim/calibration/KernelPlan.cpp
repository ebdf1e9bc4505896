// SPDX-License-Identifier: MIT
// The reader of `//!` lines: words, each line a keyword and what belongs to it.
#include "KernelPlan.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tilegym::calibration {
namespace {

/// The words of one line, taken one after the other.
struct Words {
  std::istringstream stream;
  bool take(std::string &word) { return bool(stream >> word); }
  std::string need(const char *what) {
    std::string word;
    if (!take(word))
      throw std::runtime_error(std::string("the line ends where ") + what + " was expected");
    return word;
  }
  double number(const char *what) { return toNumber(need(what)); }
  template <class T> std::vector<T> list(const char *what) {
    std::istringstream parts(need(what));
    std::vector<T> values;
    for (std::string part; std::getline(parts, part, ',');)
      values.push_back(T(toNumber(part)));
    return values;
  }
  static double toNumber(const std::string &word) {
    size_t used = 0;
    double value = 0;
    try {
      value = std::stod(word, &used);
    } catch (const std::exception &) {
    }
    if (used != word.size())
      throw std::runtime_error("'" + word + "' is no number");
    return value;
  }
};

Generator readGenerator(Words &words) {
  Generator generator{words.need("a generator"), {}};
  for (std::string word; words.take(word);)
    generator.words.push_back(Words::toNumber(word));
  return generator;
}

Buffer readBuffer(Words &words, bool isOutput) {
  Buffer buffer;
  buffer.isOutput = isOutput;
  buffer.type = parseElement(words.need("an element type"));
  buffer.count = size_t(words.number("a count"));
  if (!isOutput) {
    buffer.generator = readGenerator(words);
    return buffer;
  }
  std::string how = words.need("'bits', 'numbers', 'ulp' or 'near'");
  if (how == "numbers")
    buffer.judge = {Judge::Numbers, 0, 0, 0};
  else if (how == "ulp")
    buffer.judge = {Judge::Ulp, words.number("a bound"), 0, 0};
  else if (how == "near") {
    double absolute = words.number("an absolute bound");
    buffer.judge = {Judge::Near, 0, absolute, words.number("a relative bound")};
  } else if (how != "bits")
    throw std::runtime_error("'" + how +
                             "' is no way to compare: expected 'bits', 'numbers', 'ulp' or 'near'");
  if (std::string from; words.take(from))
    buffer.generator = readGenerator(words);
  return buffer;
}

MapPlan readMap(Words &words) {
  MapPlan map;
  map.type = parseElement(words.need("an element type"));
  for (std::string word; words.take(word);)
    if (word == "of")
      map.buffer = unsigned(words.number("a buffer"));
    else if (word == "dims")
      map.dims = words.list<uint64_t>("extents");
    else if (word == "strides")
      map.strides = words.list<uint64_t>("strides");
    else if (word == "box")
      map.box = words.list<uint32_t>("a box");
    else if (word == "steps")
      map.elementStrides = words.list<uint32_t>("element strides");
    else if (word == "swizzle")
      map.swizzle = int(words.number("a span"));
    else if (word == "nan")
      map.fillNaN = true;
    else
      throw std::runtime_error("'" + word + "' is not said of a map");
  if (map.elementStrides.empty())
    map.elementStrides.assign(map.dims.size(), 1);
  if (map.box.size() != map.dims.size() || map.strides.size() + 1 != map.dims.size() ||
      map.elementStrides.size() != map.dims.size())
    throw std::runtime_error("a map of " + std::to_string(map.dims.size()) +
                             " dims needs as many box extents and element strides, and a stride less");
  return map;
}

KernelPlan readKernel(Words &words, const std::string &file) {
  KernelPlan plan;
  plan.file = file;
  plan.name = words.need("a name");
  for (std::string word; words.take(word);) {
    unsigned value = unsigned(words.number("a number"));
    if (word == "grid")
      plan.grid = value;
    else if (word == "block")
      plan.block = value;
    else if (word == "shared")
      plan.shared = value;
    else
      throw std::runtime_error("'" + word + "' is not said of a kernel");
  }
  return plan;
}

void readLine(const std::string &text, const std::string &file, std::vector<KernelPlan> &plans) {
  Words words{std::istringstream(text)};
  std::string keyword = words.need("'kernel', 'in', 'out' or 'map'");
  if (keyword == "kernel") {
    plans.push_back(readKernel(words, file));
    return;
  }
  if (plans.empty() || plans.back().file != file)
    throw std::runtime_error("'" + keyword + "' comes before the file's first kernel");
  KernelPlan &plan = plans.back();
  if (keyword == "in" || keyword == "out") {
    plan.parameters.push_back({false, unsigned(plan.buffers.size())});
    plan.buffers.push_back(readBuffer(words, keyword == "out"));
  } else if (keyword == "map") {
    plan.parameters.push_back({true, unsigned(plan.maps.size())});
    plan.maps.push_back(readMap(words));
    if (plan.maps.back().buffer >= plan.buffers.size())
      throw std::runtime_error("a map is of a buffer that no line before it declares");
  } else
    throw std::runtime_error("'" + keyword + "' is no keyword: expected 'kernel', 'in', 'out' or 'map'");
}

} // namespace

std::vector<KernelPlan> readPlans(const std::string &folder) {
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".mlir")
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<KernelPlan> plans;
  for (const auto &path : paths) {
    std::ifstream file(path);
    std::string line;
    for (unsigned number = 1; std::getline(file, line); ++number) {
      if (!line.starts_with("//! "))
        continue;
      try {
        readLine(line.substr(4), path.stem().string(), plans);
      } catch (const std::runtime_error &error) {
        throw std::runtime_error(path.string() + ":" + std::to_string(number) + ": " + error.what());
      }
    }
  }
  return plans;
}

} // namespace tilegym::calibration
