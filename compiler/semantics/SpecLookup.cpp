// SPDX-License-Identifier: MIT
// Looks specs up with std::filesystem; no error there ever throws.
#include "compiler/semantics/SpecLookup.h"
#include "compiler/semantics/Builtins.h"
#include "compiler/syntax/Parser.h"
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tilegym::sem {

namespace fs = std::filesystem;

static bool isFile(const fs::path &path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

SpecFolders SpecFolders::standard(const std::vector<std::string> &specDirs, const std::string &installed) {
  SpecFolders result;
  result.folders.push_back("specs");
  result.folders.insert(result.folders.end(), specDirs.begin(), specDirs.end());
  if (!installed.empty())
    result.folders.push_back(installed);
  return result;
}

SearchPath SpecFolders::libraries() const {
  SearchPath path;
  for (const std::string &folder : folders)
    path.libraryFolders.push_back((fs::path(folder) / "lib").string());
  return path;
}

std::vector<std::string> listSpecs(const SpecFolders &folders) {
  std::vector<std::string> names;
  for (const std::string &folder : folders.folders) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".tile" && isFile(it->path()))
        names.push_back(it->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<std::string> findSpec(const std::string &pathOrName, const SpecFolders &folders,
                                    DiagnosticSink &sink) {
  bool isPath = pathOrName.find('/') != std::string::npos || fs::path(pathOrName).extension() == ".tile";
  if (isPath) {
    if (isFile(pathOrName))
      return pathOrName;
    sink.error({}, "there is no file `" + pathOrName + "`");
    return std::nullopt;
  }
  std::string looked;
  for (const std::string &folder : folders.folders) {
    fs::path candidate = fs::path(folder) / (pathOrName + ".tile");
    if (isFile(candidate))
      return candidate.string();
    looked += (looked.empty() ? "" : ", ") + folder;
  }
  std::string near = nearest(pathOrName, listSpecs(folders));
  sink.error({}, "no spec is called `" + pathOrName + "`",
             near.empty() ? "looked in " + looked : "did you mean `" + near + "`? looked in " + looked);
  return std::nullopt;
}

std::shared_ptr<const SourceFile> readSource(const std::string &path) {
  if (!isFile(path))
    return nullptr;
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return nullptr;
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return in.bad() ? nullptr : std::make_shared<const SourceFile>(path, std::move(text));
}

std::shared_ptr<const ast::Spec> loadTree(const std::string &path, DiagnosticSink &sink) {
  std::shared_ptr<const SourceFile> file = readSource(path);
  if (!file) {
    sink.error({}, "cannot read `" + path + "`");
    return nullptr;
  }
  size_t before = sink.numErrors();
  auto spec = std::make_shared<const ast::Spec>(parseSpec(file, sink));
  return sink.numErrors() == before ? spec : nullptr;
}

std::shared_ptr<const OpModel> loadSpec(const std::string &pathOrName, const SpecFolders &folders,
                                        DiagnosticSink &sink) {
  auto path = findSpec(pathOrName, folders, sink);
  auto spec = path ? loadTree(*path, sink) : nullptr;
  return spec ? analyze(spec, folders.libraries(), sink) : nullptr;
}

} // namespace tilegym::sem
