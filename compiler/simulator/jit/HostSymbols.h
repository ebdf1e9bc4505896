// SPDX-License-Identifier: MIT
// What compiled code calls beside the instructions: conversions between float formats, and arithmetic that the host has no instruction for.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace tilegym::sim {

struct HostSymbol {
  std::string_view name; ///< as code generation calls it
  void *address;
};
std::span<const HostSymbol> hostSymbols();

} // namespace tilegym::sim
