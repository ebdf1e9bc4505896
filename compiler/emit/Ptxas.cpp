// SPDX-License-Identifier: MIT
// Runs ptxas on temporary files and reads what it prints: errors become ours, warnings are kept, the resource
// report is parsed.
#include "compiler/emit/Ptxas.h"
#include "compiler/emit/CubinSections.h"
#include "compiler/emit/Toolchain.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <tuple>

using namespace llvm;

namespace tilegym::emit {

static unsigned numberBefore(StringRef text, StringRef unit) {
  SmallVector<StringRef> match;
  unsigned value = 0;
  if (Regex("([0-9]+) " + unit.str()).match(text, &match))
    to_integer(match[1], value);
  return value;
}

Expected<Resources> parseResources(StringRef report, StringRef kernel) {
  size_t at = report.find(("Compiling entry function '" + kernel + "'").str());
  if (at == StringRef::npos)
    return createStringError("ptxas reported no resources for kernel '%s'", kernel.str().c_str());
  StringRef section = report.substr(at + 1);
  section = section.take_front(section.find("Compiling entry function"));
  Resources r;
  r.registers = numberBefore(section, "registers");
  r.stack = numberBefore(section, "bytes stack frame");
  r.spillStores = numberBefore(section, "bytes spill stores");
  r.spillLoads = numberBefore(section, "bytes spill loads");
  r.staticShared = numberBefore(section, "bytes smem");
  r.constantBytes = numberBefore(section, "bytes cmem\\[0\\]");
  r.barriers = numberBefore(section, "barriers");
  if (r.registers == 0)
    return createStringError("ptxas's resource report for kernel '%s' is not of the known form",
                             kernel.str().c_str());
  return r;
}

namespace {

/// A run's files; they vanish with it.
struct Files {
  SmallString<128> input, output, log;
  FileRemover removeInput, removeOutput, removeLog;

  Error create() {
    for (auto [suffix, path, remover] : {std::tuple("ptx", &input, &removeInput),
                                         {"cubin", &output, &removeOutput},
                                         {"log", &log, &removeLog}}) {
      if (auto ec = sys::fs::createTemporaryFile("tilegymc", suffix, *path))
        return createStringError(ec, "cannot make a temporary file for ptxas");
      remover->setFile(*path);
    }
    return Error::success();
  }

  Error write(StringRef ptx) {
    std::error_code ec;
    raw_fd_ostream file(input, ec);
    if (!ec)
      file << ptx;
    file.close();
    if (ec || file.has_error()) {
      file.clear_error();
      return createStringError("cannot write the temporary file '%s' (is the disk full?)", input.c_str());
    }
    return Error::success();
  }
};

/// LLVM's own limit is an alarm of the whole process, of which several threads have one: here each looks at its child itself.
int runFor(unsigned seconds, StringRef program, ArrayRef<StringRef> command,
           ArrayRef<std::optional<StringRef>> redirects, std::string &message, bool &late) {
  bool failed = false;
  sys::ProcessInfo child =
      sys::ExecuteNoWait(program, command, std::nullopt, redirects, 0, &message, &failed);
  if (failed)
    return -1;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  while (seconds && !late) {
    if (sys::ProcessInfo now = sys::Wait(child, 0, &message); now.Pid == child.Pid)
      return now.ReturnCode;
    late = Clock::now() >= end;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (late)
    ::kill(child.Pid, SIGKILL);
  return sys::Wait(child, std::nullopt, &message).ReturnCode;
}

Expected<Cubin> runPtxas(const Ptxas &ptxas, const Files &files, StringRef kernel, StringRef chip,
                         ArrayRef<StringRef> options, unsigned timeoutSeconds) {
  std::string chipArgument = ("-arch=" + chip).str();
  SmallVector<StringRef> command = {ptxas.path,   "-v",        "-O3", "-lineinfo",
                                    chipArgument, files.input, "-o",  files.output};
  command.append(options.begin(), options.end());
  std::string message;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(files.log), StringRef(files.log)};
  bool late = false;
  int rc = runFor(timeoutSeconds, ptxas.path, command, redirects, message, late);
  auto logBuffer = MemoryBuffer::getFile(files.log);
  std::string report = logBuffer ? (*logBuffer)->getBuffer().str() : "";
  if (late)
    return createStringError(std::errc::timed_out, "ptxas did not finish kernel '%s' within %u s",
                             kernel.str().c_str(), timeoutSeconds);
  if (rc != 0)
    return createStringError("ptxas %s (%s) failed on kernel '%s' for %s: %s%s", ptxas.version.c_str(),
                             ptxas.path.c_str(), kernel.str().c_str(), chip.str().c_str(), message.c_str(),
                             report.c_str());
  auto image = MemoryBuffer::getFile(files.output);
  if (!image)
    return createStringError("ptxas wrote no cubin for kernel '%s'", kernel.str().c_str());
  Expected<Resources> resources = parseResources(report, kernel);
  if (!resources)
    return resources.takeError();
  Cubin cubin{(*image)->getBuffer().str(), *resources, {}, {}};
  dropPtxText(cubin.image);
  SmallVector<StringRef> lines;
  StringRef(report).split(lines, '\n');
  for (StringRef line : lines) {
    // C7508 .. C7519 are advice by their level.
    if (line.contains("(C75"))
      cubin.slow.push_back(line.trim().str());
    else if (line.contains_insensitive("warning"))
      cubin.warnings.push_back(line.trim().str());
  }
  return cubin;
}

} // namespace

Expected<Cubin> assemble(StringRef ptx, StringRef kernel, StringRef chip, unsigned timeoutSeconds) {
  Expected<Ptxas> ptxas = findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  Files files;
  if (Error error = files.create())
    return error;
  if (Error error = files.write(ptx))
    return error;
  // Left alone, ptxas often spills a word or two to stay below a count of registers that fits one more block on a multiprocessor. Asked again, it takes
  // a few registers more, then as many as it likes.
  static constexpr StringRef choices[] = {"", "--register-usage-level=10", "--minnctapersm=1"};
  std::optional<Cubin> best;
  for (StringRef choice : choices) {
    Expected<Cubin> cubin = runPtxas(*ptxas, files, kernel, chip,
                                     choice.empty() ? ArrayRef<StringRef>() : choice, timeoutSeconds);
    if (!cubin)
      return cubin.takeError();
    auto cost = [](const Cubin &c) { return std::pair(c.resources.spills(), c.slow.size()); };
    if (!best || cost(*cubin) < cost(*best))
      best = std::move(*cubin);
    if (cost(*best) == std::pair(0u, size_t(0)))
      break;
  }
  return std::move(*best);
}

} // namespace tilegym::emit
