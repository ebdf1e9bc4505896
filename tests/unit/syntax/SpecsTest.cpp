// SPDX-License-Identifier: MIT
// Every whole spec there is parses without a word.
#include "tests/unit/syntax/Helpers.h"

using namespace tilegym;

TEST_CASE("all specs parse", "[syntax]") {
  for (const auto &path : test::allSpecs()) {
    INFO(path);
    ast::Spec spec = test::parseOk(test::readFile(path), path.filename().string());
    CHECK(spec.order.size() >= 2);
  }
}
