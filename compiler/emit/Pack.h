// SPDX-License-Identifier: MIT
// Packs images for a package: machine code to a third, PTX to a quarter. The runtime's side is tilegym/format/Unpack.h.
#pragma once
#include <string>
#include <string_view>

namespace tilegym::emit {

std::string pack(std::string_view bytes);

} // namespace tilegym::emit
