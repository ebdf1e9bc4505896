// SPDX-License-Identifier: MIT
// What of a package is worth a review. Registers and sizes are ptxas's, and so left out; the instructions of the PTX are ours.
#ifdef TILEGYM_HAS_COMPILER
#include "GoldenText.h"
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

namespace tilegym::cli {
namespace {

using json = nlohmann::ordered_json;

/// Instructions worth counting, by how they begin; the first that fits counts.
constexpr std::pair<const char *, const char *> kClasses[] = {{"wgmma.", "mma"},
                                                              {"mma.", "mma"},
                                                              {"ldmatrix.", "matrix moves"},
                                                              {"stmatrix.", "matrix moves"},
                                                              {"cp.async", "async copies"},
                                                              {"mbarrier.", "barriers"},
                                                              {"bar.", "barriers"},
                                                              {"barrier.", "barriers"},
                                                              {"ld.global", "global loads"},
                                                              {"st.global", "global stores"},
                                                              {"ld.shared", "shared loads"},
                                                              {"ld.volatile.shared", "shared loads"},
                                                              {"st.shared", "shared stores"},
                                                              {"atom.", "atomics"},
                                                              {"red.", "atomics"},
                                                              {"shfl.", "shuffles"},
                                                              {"bra", "branches"}};

std::map<std::string, size_t> countInstructions(const std::string &ptx) {
  std::map<std::string, size_t> counts;
  for (size_t begin = 0; begin < ptx.size();) {
    size_t end = std::min(ptx.find_first_of("\n;", begin), ptx.size()); // several may share a line
    size_t at = ptx.find_first_not_of(" \t{", begin);
    if (at < end && ptx[at] == '@') // a predicate stands before the instruction
      at = std::min(ptx.find_first_not_of(" \t", ptx.find_first_of(" \t", at)), end);
    for (const auto &[prefix, name] : kClasses)
      if (at < end && ptx.compare(at, std::char_traits<char>::length(prefix), prefix) == 0) {
        ++counts[name];
        if (std::string_view line = std::string_view(ptx).substr(at, end - at);
            line.find(".v4.b32") != line.npos || line.find(".v2.b64") != line.npos)
          ++counts[std::string(name) + " of 16 bytes"];
        break;
      }
    begin = end + 1;
  }
  return counts;
}

void addVariant(const emit::PackageVariant &v, std::string &text) {
  text += v.abi.entry + "\n";
  if (v.plan) {
    for (const emit::PackageOp &launched : v.plan->launched)
      for (const emit::PackageVariant &one : launched.variants) {
        text += " launches ";
        addVariant(one, text);
      }
    return;
  }
  text += "  threads " + std::to_string(v.abi.threads()) + ", shared bytes " + std::to_string(v.sharedBytes);
  for (const auto &[name, count] : countInstructions(v.ptx))
    text += ", " + name + " " + std::to_string(count);
  text += "\n";
}

/// Leaves out what ptxas and hashes say, of launches of plans as well.
void strip(json &variant) {
  for (const char *key :
       {"ptx_hash", "registers", "spill_bytes", "stack_bytes", "cubin_bytes", "shared_bytes"})
    variant.erase(key);
  if (variant.contains("launches"))
    for (json &launch : variant["launches"])
      for (json &one : launch["variants"])
        strip(one);
}

std::string summary(const emit::Package &package) {
  std::string text;
  for (const emit::PackageOp &op : package.ops) {
    text += op.model->name + ": " + std::to_string(op.variants.size()) + " variants\n";
    for (const emit::PackageVariant &v : op.variants)
      addVariant(v, text);
  }
  return text;
}

/// The manifest without hashes, versions and what ptxas reports.
std::string manifest(const emit::Package &package) {
  json j = json::parse(emit::writeManifest(package, ""));
  j.erase("hash");
  j.erase("producer");
  for (json &op : j["ops"])
    for (json &variant : op["variants"])
      strip(variant);
  return j.dump(1) + "\n";
}

} // namespace

std::vector<GoldenFile> goldenFiles(const emit::Package &package, const std::string &chip) {
  std::string base = package.name + "." + chip + ".";
  return {{base + "h", emit::writeHeader(package)},
          {base + "manifest.json", manifest(package)},
          {base + "summary", summary(package)}};
}

} // namespace tilegym::cli
#endif
