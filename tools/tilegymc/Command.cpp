// SPDX-License-Identifier: MIT
// Helpers of the commands.
#include "Command.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace tilegym::cli {

sem::SpecFolders Globals::folders() const {
  // Beside the program, so that what is installed can be moved.
  std::error_code ec;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ec);
  std::filesystem::path installed = ec ? "" : program.parent_path() / TILEGYM_SPECS_FROM_PROGRAM;
  return sem::SpecFolders::standard(specDirs, installed.lexically_normal().string());
}

void report(const DiagnosticSink &sink, const Globals &globals) {
  if (globals.json)
    std::fputs((renderJson(sink) + "\n").c_str(), stdout);
  else
    std::fputs(renderAll(sink, isTerminal()).c_str(), stderr);
}

bool isTerminal() { return isatty(STDERR_FILENO); }

void progress(const std::string &line) {
  if (!isTerminal())
    return;
  std::fprintf(stderr, "\r\033[K%s", line.c_str());
  std::fflush(stderr);
}

std::vector<std::string> splitList(const std::vector<std::string> &values) {
  std::vector<std::string> parts;
  for (const std::string &value : values)
    for (size_t begin = 0; begin <= value.size();) {
      size_t end = std::min(value.find(',', begin), value.size());
      if (end > begin)
        parts.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  return parts;
}

bool writeFile(const std::string &path, const std::string &bytes) {
  std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  FILE *file = std::fopen(temporary.c_str(), "wb");
  bool ok = file && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  ok = file && std::fclose(file) == 0 && ok;
  if (ok && std::rename(temporary.c_str(), path.c_str()) == 0)
    return true;
  std::fprintf(stderr, "error: cannot write '%s': %s\n", path.c_str(), std::strerror(errno));
  std::remove(temporary.c_str());
  return false;
}

} // namespace tilegym::cli
