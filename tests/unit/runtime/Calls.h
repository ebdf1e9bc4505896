// SPDX-License-Identifier: MIT
// Arguments for calls in tests: tensors that own their shape, and a package opened from a hand-made op.
#pragma once
#include "runtime/src/Call.h"
#include "tests/unit/runtime/PackageBuilder.h"
#include "tilegym/tilegym.h"
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

namespace tilegym::testing {

/// A view whose extents and strides live with it.
class Given {
public:
  Given(const void *data, int32_t dtype, std::vector<int64_t> extents, std::vector<int64_t> steps = {})
      : shape(std::move(extents)), strides(std::move(steps)) {
    tensor = {const_cast<void *>(data), nullptr, nullptr, int32_t(shape.size()), dtype};
  }
  const TilegymTensor *c() {
    tensor.rank = int32_t(shape.size());
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
    return &tensor;
  }
  std::vector<int64_t> shape, strides;
  TilegymTensor tensor{};
};

/// A package in memory, opened by the C interface and as a table.
class Opened {
public:
  explicit Opened(const OpText &op) : Opened(std::vector<OpText>{op}) {}
  explicit Opened(const std::vector<OpText> &ops, const std::vector<OpText> &launched = {}) {
    std::string block = PackageBuilder().build(ops, launched);
    storage.resize((block.size() + 7) / 8);
    std::memcpy(storage.data(), block.data(), block.size());
    REQUIRE(tilegym_package_open(storage.data(), block.size(), &package) == TILEGYM_OK);
    REQUIRE(table.open(storage.data(), block.size(), "a test") == TILEGYM_OK);
  }
  ~Opened() { tilegym_package_close(package); }
  Opened(const Opened &) = delete;
  Opened &operator=(const Opened &) = delete;

  std::unique_ptr<runtime::Call> call(size_t op = 0) const {
    return std::make_unique<runtime::Call>(table, table.ops()[op]);
  }
  /// The text of a refused bind; "" where it is accepted.
  std::string refusal(const std::vector<const void *> &args, bool forShape = false) const {
    auto bound = call();
    return bound->bind(args.data(), forShape) == TILEGYM_OK ? "" : tilegym_last_error();
  }

  TilegymPackage *package = nullptr;
  runtime::Table table;

private:
  std::vector<uint64_t> storage;
};

/// Host memory that stands for a GPU's; aligned to 256 bytes.
inline char *memory() {
  alignas(256) static char bytes[1 << 20];
  return bytes;
}

} // namespace tilegym::testing
