// SPDX-License-Identifier: MIT
// Views of the tensors that a call is given: what the runtime must know of a torch tensor, or of anything that speaks DLPack, read without copying it.
#pragma once
#include "Dlpack.h"
#include "Object.h"
#include "tilegym/tilegym.h"

namespace tilegym::python {

/// How a type's tensors are read; found out once a type.
enum class Protocol {
  Exchange, ///< by the framework's table of functions
  Torch,    ///< torch tensors without that table: by capsules, on torch's current stream
  Redirect, ///< torch tensors that only torch's own dispatch may look into
  Capsule,  ///< anything else with __dlpack__
  None      ///< no tensor
};
struct Framework {
  Protocol protocol = Protocol::None;
  bool isTorch = false;
  const DLExchange *exchange = nullptr;
};

struct View {
  TilegymTensor tensor;
  DLDevice device;
  PyObject *object;  ///< borrowed from the call
  PyObject *capsule; ///< owned; null for Exchange
  const Framework *framework;
  bool isReadOnly;
};

/// Of the object's type; null with an error set where that could not be found out.
const Framework *frameworkOf(PyObject *object);
/// `object` as a view; `stream` is the one that a capsule's producer must be ordered before (-1: the framework's current one). False with an error set.
bool read(PyObject *object, const Framework *framework, int64_t stream, View *view);
void close(View *view);
/// The stream that the framework works on at present. False with an error set.
bool currentStream(const View &view, void **stream);

/// A new tensor like `like` (framework, device) of that shape and dtype, in `view`; an owned reference, null with an error set.
PyObject *allocate(const View &like, const int64_t *shape, int32_t rank, int32_t dtype, View *view);

/// A new one of the shape and dtype of `like`.
PyObject *allocateLike(const View &like, View *view);

/// For tests and measurements: without the frameworks' tables every tensor is read by its capsule.
void useExchange(bool on);
/// Python's side of what needs a framework by name: _frameworks.py.
bool setHelpers(PyObject *module);
PyObject *helpers();

} // namespace tilegym::python
