// SPDX-License-Identifier: MIT
// The knob table: what some pass reads. A target that understands a further knob adds a row.
#include "compiler/semantics/Knobs.h"

namespace tilegym::sem {

const std::vector<KnobInfo> &knobs() {
  using K = KnobInfo;
  static const std::vector<KnobInfo> table = {
      {K::Int, "warps", "warps of a block that compute", 1, 32, true},
      {K::Int, "stages", "depth of the pipeline of loads", 1, 16},
      {K::Int, "ctas", "blocks of a cluster that one block's tiles are spread over", 1, 8, true},
      {K::Word,
       "hold",
       "where rows that are needed again after a reduction live",
       0,
       1,
       false,
       {"registers", "shared"}},
      {K::Int, "vectors", "16-byte vectors of a row that a thread takes at a time, under `hold = shared`", 1,
       64, true},
      {K::Bool, "persistent", "blocks stay and take further grid points", 0, 1},
      {K::Word,
       "schedule",
       "how warps share a matrix loop",
       0,
       2,
       false,
       {"pipelined", "cooperative", "pingpong"}},
      {K::Int, "split_k", "parts of a product's reduction axis, which the blocks of a cluster take", 1, 8},
      {K::Int, "occupancy", "blocks of a multiprocessor, under `persistent`", 1, 32},
  };
  return table;
}

const KnobInfo *findKnob(std::string_view name) {
  for (const KnobInfo &knob : knobs())
    if (knob.name == name)
      return &knob;
  return nullptr;
}

std::string knobText(std::string_view name, int64_t value) {
  const KnobInfo *knob = findKnob(name);
  if (knob && knob->kind == KnobInfo::Bool)
    return value ? "true" : "false";
  if (knob && knob->kind == KnobInfo::Word && value >= 0 && value < int64_t(knob->words.size()))
    return knob->words[size_t(value)];
  return std::to_string(value);
}

} // namespace tilegym::sem
