// SPDX-License-Identifier: MIT
// Runs ptxas on temporary files and reads what it prints: errors become ours, warnings are kept, the resource
// report is parsed.
#include "compiler/emit/Ptxas.h"
#include "compiler/emit/Toolchain.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>

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

Expected<Cubin> assemble(StringRef ptx, StringRef kernel, StringRef chip, unsigned timeoutSeconds) {
  Expected<Ptxas> ptxas = findPtxas();
  if (!ptxas)
    return ptxas.takeError();
  SmallString<128> input, output, log;
  for (auto [suffix, path] :
       {std::pair<const char *, SmallString<128> *>{"ptx", &input}, {"cubin", &output}, {"log", &log}})
    if (auto ec = sys::fs::createTemporaryFile("tilegymc", suffix, *path))
      return createStringError(ec, "cannot make a temporary file for ptxas");
  FileRemover removeInput(input), removeOutput(output), removeLog(log);
  {
    std::error_code ec;
    raw_fd_ostream file(input, ec);
    if (!ec)
      file << ptx;
    file.close();
    if (ec || file.has_error()) {
      file.clear_error();
      return createStringError("cannot write the temporary file '%s' (is the disk full?)", input.c_str());
    }
  }
  std::string chipArgument = ("-arch=" + chip).str();
  std::string message;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log), StringRef(log)};
  int rc = sys::ExecuteAndWait(ptxas->path,
                               {ptxas->path, "-v", "-O3", "-lineinfo", chipArgument, input, "-o", output},
                               std::nullopt, redirects, timeoutSeconds, 0, &message);
  auto logBuffer = MemoryBuffer::getFile(log);
  std::string report = logBuffer ? (*logBuffer)->getBuffer().str() : "";
  if (rc == -2 && timeoutSeconds && message.find("timed out") != std::string::npos)
    return createStringError("ptxas did not finish kernel '%s' within %u s", kernel.str().c_str(),
                             timeoutSeconds);
  if (rc != 0)
    return createStringError("ptxas %s (%s) failed on kernel '%s' for %s: %s%s", ptxas->version.c_str(),
                             ptxas->path.c_str(), kernel.str().c_str(), chip.str().c_str(), message.c_str(),
                             report.c_str());
  auto image = MemoryBuffer::getFile(output);
  if (!image)
    return createStringError("ptxas wrote no cubin for kernel '%s'", kernel.str().c_str());
  Expected<Resources> resources = parseResources(report, kernel);
  if (!resources)
    return resources.takeError();
  Cubin cubin{(*image)->getBuffer().str(), *resources, {}};
  SmallVector<StringRef> lines;
  StringRef(report).split(lines, '\n');
  for (StringRef line : lines)
    if (line.contains_insensitive("warning") || line.contains("serialize"))
      cubin.warnings.push_back(line.trim().str());
  return cubin;
}

} // namespace tilegym::emit
