// SPDX-License-Identifier: MIT
// Python's C interface, its stable part: one binary serves every CPython from 3.10 on.
#pragma once
#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030a0000
#endif
#include <Python.h>
#include <utility>

namespace tilegym::python {

/// A reference that is owned.
class Ref {
public:
  Ref(PyObject *stolen = nullptr) : object(stolen) {}
  Ref(Ref &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ref &operator=(Ref &&other) noexcept {
    std::swap(object, other.object);
    return *this;
  }
  ~Ref() { Py_XDECREF(object); }
  static Ref borrowed(PyObject *object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  PyObject *get() const { return object; }
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object; }

private:
  PyObject *object;
};

} // namespace tilegym::python
