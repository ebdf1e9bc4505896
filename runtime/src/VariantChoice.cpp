// SPDX-License-Identifier: MIT
// The choice of a variant.
#include "VariantChoice.h"
#include <algorithm>
#include <cinttypes>
#include <climits>
#include <string>
#include <utility>

namespace tilegym::runtime {
namespace {

using namespace format;

/// dtypes, consts, const dims, optional tensors.
bool interfaceMatches(const Call &call, const Variant &v) {
  if (v.present != call.present)
    return false;
  std::span<const uint8_t> dtypes = call.table.get<uint8_t>(v.dtypes);
  for (size_t i = 0; i < dtypes.size(); ++i)
    if (call.dtypes[i] != Call::kUnbound && dtypes[i] != call.dtypes[i])
      return false;
  std::span<const int64_t> consts = call.table.get<int64_t>(v.consts);
  for (size_t i = 0; i < consts.size(); ++i)
    if (call.scalars[i].isConst && consts[i] != call.scalarValues[i].i)
      return false;
  std::span<const int64_t> dims = call.table.get<int64_t>(v.constDims);
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] != kRunTime && dims[i] != call.dimValues[i])
      return false;
  return true;
}

std::string archList(const Table &table, const Op &op) {
  std::string list;
  for (const std::string &name : archNames(table, table.get<Variant>(op.variants)))
    list += (list.empty() ? "" : ", ") + name;
  return list.empty() ? "none" : list;
}

TilegymStatus noImage(const Table &table, const Op &op, int arch, const char *deviceName) {
  return fail(TILEGYM_NO_IMAGE,
              "%s: no code for this GPU (%s, sm_%d); the package has %s: compile it with --arch for this GPU",
              Text(table.text(op.name)).data, deviceName, arch, archList(table, op).c_str());
}

std::string describe(const Call &call) {
  std::string text;
  for (size_t i = 0; i < call.typeVars.size(); ++i)
    if (std::string_view name = call.table.text(call.typeVars[i].name);
        !name.empty() && call.dtypes[i] != Call::kUnbound)
      text += (text.empty() ? "" : ", ") + std::string(name) + " = " + dtypeName(call.dtypes[i]);
  for (size_t i = 0; i < call.scalars.size(); ++i)
    if (call.scalars[i].isConst)
      text += (text.empty() ? "" : ", ") + std::string(call.table.text(call.scalars[i].name)) + " = " +
              std::to_string(call.scalarValues[i].i);
  for (size_t i = 0; i < call.dims.size(); ++i)
    text += (text.empty() ? "" : ", ") + std::string(call.table.text(call.dims[i].name)) + " = " +
            std::to_string(call.dimValues[i]);
  for (size_t i = 0; i < call.tensors.size(); ++i)
    if (call.tensors[i].optional)
      text += (text.empty() ? "" : ", ") + std::string(call.bound[i].given ? "with " : "without ") +
              std::string(call.table.text(call.tensors[i].name));
  return text;
}

/// Machine code before PTX, the newer before the older, the exact before the portable; -1 where the device cannot run it.
int fitness(const Image &image, int arch) {
  bool fits = arch == kAnyArch || (int(image.arch) <= arch && (!image.exact || int(image.arch) == arch) &&
                                   (image.kind == 1 || int(image.arch) / 10 == arch / 10));
  return fits ? (image.kind == 0) * 10000 + int(image.arch) * 10 + int(image.exact) : -1;
}

} // namespace

const Image *bestImage(const Table &table, const Variant &variant, int arch, int *fit) {
  const Image *best = nullptr;
  *fit = -1;
  for (const Image &image : table.get<Image>(variant.images))
    if (int f = fitness(image, arch); f > *fit) {
      best = &image;
      *fit = f;
    }
  return best;
}

int fitnessOf(const Table &table, const Variant &variant, int arch) {
  int fit;
  bestImage(table, variant, arch, &fit);
  if (!variant.launches.count)
    return fit;
  int least = INT_MAX;
  for (const Launch &launch : table.get<Launch>(variant.launches)) {
    int best = -1;
    for (const Variant &v : table.get<Variant>(table.launched()[launch.op].variants)) {
      bestImage(table, v, arch, &fit);
      best = std::max(best, fit);
    }
    least = std::min(least, best);
  }
  return least;
}

std::set<std::string> archNames(const Table &table, std::span<const Variant> variants) {
  std::set<std::string> names;
  for (const Variant &v : variants) {
    for (const Image &i : table.get<Image>(v.images))
      names.insert(std::string(i.kind ? "PTX for sm_" : "sm_") + std::to_string(i.arch) +
                   (i.exact ? "a" : ""));
    for (const Launch &launch : table.get<Launch>(v.launches))
      names.merge(archNames(table, table.get<Variant>(table.launched()[launch.op].variants)));
  }
  return names;
}

TilegymStatus hasCode(const Table &table, const Op &op, int arch, const char *deviceName) {
  for (const Variant &v : table.get<Variant>(op.variants))
    if (fitnessOf(table, v, arch) >= 0)
      return TILEGYM_OK;
  return noImage(table, op, arch, deviceName);
}

const char *factsName(const Table &table, const Variant &v) {
  if (v.facts == kFactsGeneral)
    return "general";
  for (uint8_t bits : table.get<uint8_t>(v.tensorFacts))
    if (bits == kUnitInner || bits == kTransposed * kUnitInner)
      return "dense";
  return "fast";
}

bool factsHold(const Call &call, const Variant &v) {
  if (v.facts == kFactsGeneral)
    return true;
  if (!call.fastBase)
    return false;
  std::span<const uint8_t> wanted = call.table.get<uint8_t>(v.tensorFacts);
  for (size_t t = 0; t < wanted.size(); ++t)
    if (wanted[t] & ~call.facts[t])
      return false;
  return true;
}

bool guardHolds(const Call &call, const Kernel &kernel, const Values &values) {
  if (!kernel.guard.count)
    return true;
  Evaluated e = evaluate(call.table.get<Inst>(kernel.guard), values);
  return !e.error && e.value.i;
}

bool derive(const Call &call, const Kernel &kernel, const Values &values, int64_t *derived) {
  std::span<const Slice> codes = call.table.get<Slice>(kernel.derived);
  for (size_t p = 0; p < codes.size(); ++p) {
    derived[p] = kRunTime;
    if (!codes[p].count)
      continue;
    Evaluated e = evaluate(call.table.get<Inst>(codes[p]), values);
    if (e.error)
      return false;
    derived[p] = e.value.i;
  }
  return true;
}

Choice choiceOf(const Call &call, uint32_t index, int arch) {
  const Variant &v = call.table.get<Variant>(call.op.variants)[index];
  int fit;
  return {&v, bestImage(call.table, v, arch, &fit), call.table.get<int64_t>(v.params).data(), index};
}

Choice bestOf(const Call &call, uint32_t kernel, const int64_t *derived, int arch, bool *lacksImage) {
  const Table &table = call.table;
  std::span<const Variant> variants = table.get<Variant>(call.op.variants);
  // Code for this GPU first, then what the arguments allow: a fast variant of an older arch is still behind.
  Choice best;
  std::pair<int, uint32_t> bestRank(-1, 0);
  for (uint32_t index = 0; index < variants.size(); ++index) {
    const Variant &v = variants[index];
    if (v.kernel != kernel || !interfaceMatches(call, v) || !factsHold(call, v))
      continue;
    std::span<const int64_t> params = table.get<int64_t>(v.params);
    bool matches = true;
    for (size_t p = 0; matches && p < params.size(); ++p)
      matches = derived[p] == kRunTime || derived[p] == params[p];
    if (!matches)
      continue;
    int fit = fitnessOf(table, v, arch), unused;
    *lacksImage |= fit < 0;
    std::pair<int, uint32_t> rank(fit, v.facts);
    if (fit >= 0 && (!best.variant || rank > bestRank)) {
      best = {&v, bestImage(table, v, arch, &unused), params.data(), index};
      bestRank = rank;
    }
  }
  return best;
}

TilegymStatus choose(const Call &call, int arch, const char *deviceName, Choice *choice) {
  const Table &table = call.table;
  std::span<const Kernel> kernels = table.get<Kernel>(call.op.kernels);
  Values values = call.values();
  bool guarded = false, lacksImage = false;
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    if (!guardHolds(call, kernels[k], values))
      continue;
    guarded = true;
    int64_t derived[kMaxDims];
    if (!derive(call, kernels[k], values, derived))
      continue;
    if (*choice = bestOf(call, k, derived, arch, &lacksImage); choice->variant)
      return TILEGYM_OK;
  }
  std::string name(table.text(call.op.name));
  if (!guarded)
    return fail(TILEGYM_INVALID_ARGUMENT,
                "%s: no kernel takes this call (%s); every kernel's `when` is false", name.c_str(),
                describe(call).c_str());
  if (lacksImage)
    return noImage(table, call.op, arch, deviceName);
  return fail(TILEGYM_NO_VARIANT,
              "%s: the package has no variant for %s; it has %zu variants: compile the op for this case, too",
              name.c_str(), describe(call).c_str(), size_t(call.op.variants.count));
}

} // namespace tilegym::runtime
