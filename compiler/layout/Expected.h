// SPDX-License-Identifier: MIT
// A value, or a sentence that says why there is none. The layout library never throws and never aborts on a
// shape or a thread count that a user wrote.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace tilegym::layout {

/// Lower case, no full stop: what was found, what was expected.
struct Failure {
  std::string message;
};

template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Failure failure) : message_(std::move(failure.message)) {}

  explicit operator bool() const { return value_.has_value(); }
  const T &operator*() const { return *value_; }
  T &operator*() { return *value_; }
  const T *operator->() const { return &*value_; }
  T *operator->() { return &*value_; }
  const std::string &error() const { return message_; }

private:
  std::optional<T> value_;
  std::string message_;
};

} // namespace tilegym::layout
