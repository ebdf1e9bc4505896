// SPDX-License-Identifier: MIT
// Wavefronts and sectors.
#include "compiler/simulator/TrafficCounter.h"
#include <algorithm>
#include <bit>

namespace tilegym::sim {
namespace {

/// A lane this far ahead of the others: the oldest request is counted as it stands.
constexpr size_t maxOpen = 4096;

template <class Visit> void eachLane(uint32_t lanes, Visit visit) {
  for (; lanes; lanes &= lanes - 1)
    visit(unsigned(std::countr_zero(lanes)));
}

size_t distinct(std::vector<uint64_t> &values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values.size();
}

} // namespace

unsigned sharedWavefronts(uint32_t lanes, const std::array<uint64_t, 32> &addresses, uint32_t bytes) {
  unsigned groups = bytes >= 16 ? 4 : bytes == 8 ? 2 : 1, wavefronts = 0;
  for (unsigned group = 0; group < groups; ++group) {
    uint32_t mask = groups == 1 ? ~0u : ((1u << 32 / groups) - 1) << group * (32 / groups);
    std::vector<uint64_t> words;
    eachLane(lanes & mask, [&](unsigned lane) {
      for (uint64_t at = addresses[lane] / 4; at <= (addresses[lane] + bytes - 1) / 4; ++at)
        words.push_back(at);
    });
    distinct(words);
    std::array<unsigned, 32> banks{};
    unsigned deepest = 0;
    for (uint64_t word : words)
      deepest = std::max(deepest, ++banks[word % 32]);
    wavefronts += deepest;
  }
  return wavefronts;
}

unsigned globalSectors(uint32_t lanes, const std::array<uint64_t, 32> &addresses, uint32_t bytes) {
  std::vector<uint64_t> sectors;
  eachLane(lanes, [&](unsigned lane) {
    for (uint64_t at = addresses[lane] / 32; at <= (addresses[lane] + bytes - 1) / 32; ++at)
      sectors.push_back(at);
  });
  return unsigned(distinct(sectors));
}

void TrafficCounter::note(const Thread &thread, uint64_t address, uint32_t bytes, bool isWrite,
                          const Site *site) {
  Stream &stream = streams[thread.warp][site];
  stream.isWrite = isWrite;
  uint64_t number = stream.reached[thread.lane]++;
  if (number < stream.done)
    return; // the others went on without this lane
  while (number - stream.done >= stream.open.size())
    stream.open.emplace_back();
  Request &request = stream.open[number - stream.done];
  if (bytes) {
    request.lanes |= 1u << thread.lane;
    request.addresses[thread.lane] = address;
    request.bytes = bytes;
  }
  auto everyLaneCame = [&] {
    uint32_t waited = thread.warp->lanes & ~thread.warp->exited;
    bool all = true;
    eachLane(waited, [&](unsigned lane) { all &= stream.reached[lane] > stream.done; });
    return all;
  };
  while (!stream.open.empty() && (stream.open.size() > maxOpen || everyLaneCame())) {
    count(site, stream.open.front(), isWrite);
    stream.open.pop_front();
    ++stream.done;
  }
}

void TrafficCounter::count(const Site *site, const Request &request, bool isWrite) {
  if (!request.lanes)
    return;
  uint64_t first = request.addresses[std::countr_zero(request.lanes)];
  Traffic &total = totals[site];
  total.site = site;
  total.isWrite = isWrite;
  total.isShared = first < uint64_t(1) << 32;
  ++total.requests;
  if (total.isShared) {
    std::vector<uint64_t> words;
    eachLane(request.lanes, [&](unsigned lane) {
      for (uint64_t at = request.addresses[lane] / 4; at <= (request.addresses[lane] + request.bytes - 1) / 4;
           ++at)
        words.push_back(at);
    });
    total.ideal += std::max<size_t>(1, (distinct(words) + 31) / 32);
    total.done += sharedWavefronts(request.lanes, request.addresses, request.bytes);
  } else {
    std::vector<uint64_t> bytes;
    eachLane(request.lanes, [&](unsigned lane) { bytes.push_back(request.addresses[lane]); });
    total.ideal += (distinct(bytes) * request.bytes + 31) / 32;
    total.done += globalSectors(request.lanes, request.addresses, request.bytes);
  }
}

void TrafficCounter::finish(const Warp &warp) {
  auto found = streams.find(&warp);
  if (found == streams.end())
    return;
  for (auto &[site, stream] : found->second)
    for (const Request &request : stream.open)
      count(site, request, stream.isWrite);
  streams.erase(found);
}

std::vector<Traffic> TrafficCounter::take() {
  std::vector<Traffic> all;
  for (auto &[site, total] : totals)
    all.push_back(total);
  std::sort(all.begin(), all.end(), [](const Traffic &a, const Traffic &b) {
    return std::tuple(std::string_view(a.site->file), a.site->line, a.site->column, a.site) <
           std::tuple(std::string_view(b.site->file), b.site->line, b.site->column, b.site);
  });
  return all;
}

} // namespace tilegym::sim
