// SPDX-License-Identifier: MIT
// Writing and reading of kept results.
#include "KernelRecord.h"
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tilegym::calibration {
namespace {

constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr size_t lineLength = 148; // a multiple of 4

/// Base 64 without the padding at the end: the count of elements says how many bytes there are.
void writeBytes(std::ostream &stream, const std::vector<uint8_t> &data) {
  std::string text;
  for (size_t i = 0; i < data.size(); i += 3) {
    uint32_t three = data[i] << 16 | (i + 1 < data.size() ? data[i + 1] << 8 : 0) |
                     (i + 2 < data.size() ? data[i + 2] : 0);
    for (int shift = 18; shift >= 0; shift -= 6)
      text += digits[three >> shift & 63];
  }
  for (size_t at = 0; at < text.size(); at += lineLength)
    stream << text.substr(at, lineLength) << "\n";
}

void readBytes(const std::string &line, size_t size, std::vector<uint8_t> &data) {
  for (size_t i = 0; i + 3 < line.size(); i += 4) {
    uint32_t three = 0;
    for (size_t j = i; j < i + 4; ++j) {
      const char *digit = line[j] ? std::strchr(digits, line[j]) : nullptr;
      if (!digit)
        throw std::runtime_error(std::string("'") + line[j] + "' is no digit of base 64");
      three = three << 6 | uint32_t(digit - digits);
    }
    for (int shift = 16; shift >= 0 && data.size() < size; shift -= 8)
      data.push_back(uint8_t(three >> shift));
  }
}

} // namespace

void writeRecord(std::ostream &stream, const KernelPlan &plan,
                 const std::vector<std::vector<uint8_t>> &outputs) {
  stream << "kernel " << plan.file << " " << plan.name << "\n";
  size_t next = 0;
  for (const Buffer &buffer : plan.buffers)
    if (buffer.isOutput) {
      stream << "out " << nameOf(buffer.type) << " " << buffer.count << "\n";
      writeBytes(stream, outputs[next++]);
    }
}

void readRecords(const std::string &path, std::map<std::string, KernelRecord> &records) {
  std::ifstream file(path);
  std::string line, origin;
  KernelRecord *record = nullptr;
  size_t size = 0;
  for (unsigned number = 1; std::getline(file, line); ++number)
    try {
      std::istringstream words(line);
      std::string keyword, first, second;
      words >> keyword >> first >> second;
      if (keyword == "#")
        origin = line.substr(2);
      else if (keyword == "kernel") {
        record = &records[first + " " + second];
        *record = {.error = "", .outputs = {}, .origin = origin};
      } else if (!record)
        throw std::runtime_error("'" + keyword + "' comes before the first kernel");
      else if (keyword == "error")
        record->error = line.substr(6);
      else if (keyword == "out") {
        record->outputs.push_back({parseElement(first), {}});
        size = std::stoull(second) * bytesOf(record->outputs.back().first);
      } else if (record->outputs.empty())
        throw std::runtime_error("values come before the first output");
      else
        readBytes(line, size, record->outputs.back().second);
    } catch (const std::exception &error) {
      throw std::runtime_error(path + ":" + std::to_string(number) + ": " + error.what());
    }
}

} // namespace tilegym::calibration
