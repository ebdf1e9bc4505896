// SPDX-License-Identifier: MIT
// Discovery of the CUDA tools. What is found is asked for its version before it is trusted, under a time
// limit, since a wrapper script or a foreign binary of that name would otherwise fail much later and less
// clearly.
#include "compiler/emit/Toolchain.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include <mutex>
#include <optional>

using namespace llvm;

namespace tilegym::emit {
namespace {

std::optional<std::string> environment(const char *name) { return sys::Process::GetEnv(name); }

/// Folders that may hold a CUDA toolkit, in order, with what to call them.
std::vector<std::pair<std::string, std::string>> toolkitFolders() {
  std::vector<std::pair<std::string, std::string>> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (auto value = environment(variable); value && !value->empty())
      folders.emplace_back(*value, variable);
  // A build tree lies inside the checkout whose .cache/ tools/setup fills.
  std::string self = sys::fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&toolkitFolders));
  for (StringRef dir = sys::path::parent_path(self); !dir.empty(); dir = sys::path::parent_path(dir)) {
    SmallString<256> cache(dir);
    sys::path::append(cache, ".cache", "cuda");
    if (sys::fs::is_directory(cache)) {
      folders.emplace_back(std::string(cache), "tools/setup");
      break;
    }
  }
  if (auto onPath = sys::findProgramByName("ptxas")) {
    SmallString<256> real;
    if (!sys::fs::real_path(*onPath, real))
      folders.emplace_back(sys::path::parent_path(sys::path::parent_path(real)).str(), "PATH");
  }
  folders.emplace_back("/usr/local/cuda", "/usr/local/cuda");
  return folders;
}

Expected<Tool> findFile(const char *variable, ArrayRef<StringRef> inToolkit, const char *what) {
  if (auto path = environment(variable)) {
    if (path->empty())
      return createStringError("%s is set to nothing, so no %s is used", variable, what);
    if (!sys::fs::exists(*path))
      return createStringError("no %s at '%s' (from %s)", what, path->c_str(), variable);
    return Tool{*path, variable};
  }
  std::string looked;
  for (const auto &[folder, origin] : toolkitFolders()) {
    SmallString<256> path(folder);
    for (StringRef part : inToolkit)
      sys::path::append(path, part);
    if (sys::fs::exists(path))
      return Tool{std::string(path), origin};
    looked += (looked.empty() ? "" : ", ") + std::string(path);
  }
  return createStringError("no %s found (looked at %s); run tools/setup, or set %s", what, looked.c_str(),
                           variable);
}

Expected<Ptxas> askPtxas() {
  Expected<Tool> tool = findFile("TILEGYM_PTXAS", {"bin", "ptxas"}, "ptxas");
  if (!tool)
    return tool.takeError();
  if (!sys::fs::can_execute(tool->path))
    return createStringError(
        "'%s' (from %s) is not an executable file; set TILEGYM_PTXAS to a ptxas of CUDA %u.%u or later",
        tool->path.c_str(), tool->origin.c_str(), kPtxasMajor, kPtxasMinor);
  SmallString<128> outputPath;
  if (auto ec = sys::fs::createTemporaryFile("ptxas-version", "txt", outputPath))
    return errorCodeToError(ec);
  FileRemover remover(outputPath);
  std::string message;
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(outputPath), StringRef(outputPath)};
  int rc = sys::ExecuteAndWait(tool->path, {tool->path, "--version"}, std::nullopt, redirects,
                               /*SecondsToWait=*/20, 0, &message);
  auto output = MemoryBuffer::getFile(outputPath);
  SmallVector<StringRef> match;
  if (rc != 0 || !output || !Regex("V([0-9]+)\\.([0-9]+)\\.([0-9]+)").match((*output)->getBuffer(), &match))
    return createStringError("'%s' (from %s) does not answer to --version as ptxas does%s%s; set "
                             "TILEGYM_PTXAS to a ptxas of CUDA %u.%u or later",
                             tool->path.c_str(), tool->origin.c_str(), message.empty() ? "" : ": ",
                             message.c_str(), kPtxasMajor, kPtxasMinor);
  Ptxas ptxas;
  static_cast<Tool &>(ptxas) = *tool;
  ptxas.version = match[0].drop_front().str();
  to_integer(match[1], ptxas.major);
  to_integer(match[2], ptxas.minor);
  if (std::pair(ptxas.major, ptxas.minor) < std::pair(kPtxasMajor, kPtxasMinor))
    return createStringError(
        "ptxas at '%s' (from %s) is %s, but %u.%u or later is needed; set TILEGYM_PTXAS to one",
        ptxas.path.c_str(), ptxas.origin.c_str(), ptxas.version.c_str(), kPtxasMajor, kPtxasMinor);
  return ptxas;
}

} // namespace

Expected<Ptxas> findPtxas() {
  static std::mutex mutex;
  static std::optional<Ptxas> found;
  std::lock_guard lock(mutex);
  if (!found) {
    Expected<Ptxas> asked = askPtxas();
    if (!asked)
      return asked.takeError();
    found = *asked;
  }
  return *found;
}

Expected<Tool> findLibdevice() {
  return findFile("TILEGYM_LIBDEVICE", {"nvvm", "libdevice", "libdevice.10.bc"}, "libdevice");
}

} // namespace tilegym::emit
