// SPDX-License-Identifier: MIT
// The log: level and sink, both the process's.
#include "Log.h"
#include "tilegym/tilegym.h"
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace tilegym::runtime {
namespace {

constexpr const char *kNames[] = {"off", "warning", "info", "debug"};

int32_t levelOfEnvironment() {
  const char *text = std::getenv("TILEGYM_LOG");
  for (int32_t level = 0; text && level < int32_t(std::size(kNames)); ++level)
    if (std::string_view(kNames[level]) == text)
      return level;
  return TILEGYM_LOG_WARNING;
}

std::atomic<int32_t> &currentLevel() {
  static std::atomic<int32_t> level{levelOfEnvironment()};
  return level;
}

struct Sink {
  std::mutex mutex;
  TilegymLog write = nullptr;
  void *user = nullptr;
};
Sink &sink() {
  static auto *one = new Sink; // never destroyed: packages with static storage may log late
  return *one;
}

} // namespace

bool logs(int32_t level) { return level <= currentLevel().load(std::memory_order_relaxed); }

void log(int32_t level, const char *format, ...) {
  if (!logs(level))
    return;
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  TilegymLog write = nullptr;
  void *user = nullptr;
  {
    std::lock_guard lock(sink().mutex);
    write = sink().write;
    user = sink().user;
  }
  if (write)
    write(user, level, text);
  else
    std::fprintf(stderr, "tilegym: %s: %s\n", kNames[level], text);
}

} // namespace tilegym::runtime

extern "C" {

void tilegym_set_log_level(int32_t level) {
  tilegym::runtime::currentLevel().store(level, std::memory_order_relaxed);
}

void tilegym_set_log(TilegymLog write, void *user) {
  std::lock_guard lock(tilegym::runtime::sink().mutex);
  tilegym::runtime::sink().write = write;
  tilegym::runtime::sink().user = user;
}

} // extern "C"
