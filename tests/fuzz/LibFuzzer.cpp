// SPDX-License-Identifier: MIT
// The same check as a libFuzzer target, guided by coverage: `ninja fuzz_spec_libfuzzer`, then run it on a corpus folder.
#include "tests/fuzz/OneSpec.h"
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tilegym::fuzz::fuzzOneSpec({reinterpret_cast<const char *>(data), size});
  return 0;
}
