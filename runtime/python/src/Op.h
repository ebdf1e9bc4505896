// SPDX-License-Identifier: MIT
// An op of an open package as Python calls it: what its arguments are, and the function object that binds them.
#pragma once
#include "DlpackView.h"
#include "tilegym/vendor.h"
#include <string>
#include <vector>

namespace tilegym::python {

constexpr int kMaxArguments = 48;

/// The C interface that made a package's handle: that of this extension, or of the shared library that the package came in.
struct Runtime {
  decltype(&tilegym_call_on) call = tilegym_call_on;
  decltype(&tilegym_backend) backend = tilegym_backend;
  decltype(&tilegym_infer_shape) inferShape = tilegym_infer_shape;
  decltype(&tilegym_infer_list) inferList = tilegym_infer_list;
  decltype(&tilegym_prepare) prepare = tilegym_prepare;
  decltype(&tilegym_explain) explain = tilegym_explain;
  decltype(&tilegym_last_error) lastError = tilegym_last_error;
  decltype(&tilegym_package_num_ops) numOps = tilegym_package_num_ops;
  decltype(&tilegym_package_op_name) opName = tilegym_package_op_name;
  decltype(&tilegym_add_vendor) addVendor =
      tilegym_add_vendor; ///< null: a library that was linked without it
};

/// What the capsule of an open package holds.
struct OpenPackage {
  TilegymPackage *handle = nullptr;
  Runtime runtime;
  void *library = nullptr; ///< which stays loaded: other code may use it, too
};

struct Argument {
  enum Kind { Tensor, Scalar, Const, List } kind = Tensor;
  PyObject *name = nullptr; ///< interned
  bool isOutput = false, isWritten = false, isOptional = false;
  int32_t dtype = 0;       ///< of scalars: TilegymDType, or -1 where the call decides
  int like = -1;           ///< of outputs: the input that has the same shape and dtype, if one always has
  bool hasDefault = false; ///< of scalars and consts
  std::vector<PyObject *> choices; ///< of consts with names, interned
};

/// What a function object does with its arguments.
enum class Action { Call, Prepare, Explain };

struct Op {
  PyObject *package = nullptr; ///< keeps `handle` open
  TilegymPackage *handle = nullptr;
  Runtime runtime;
  size_t number = 0;
  std::string name, doc;
  std::vector<Argument> arguments;
  int inputs = 0;               ///< arguments before the outputs
  int output = -1;              ///< the one that `out=` names
  bool hasLists = false;        ///< some arguments are lists of tensors
  PyObject *redirect = nullptr; ///< what torch's dispatch calls instead, or null
  Action action = Action::Call;
  PyMethodDef method = {};
};

/// A function object, which owns `op`. Null with an error set.
PyObject *makeFunction(Op *op, PyObject *module);

/// Makes the device of a tensor current while it lives, where it is not.
class DeviceScope {
public:
  explicit DeviceScope(DLDevice device);
  ~DeviceScope();
  DeviceScope(const DeviceScope &) = delete;
  DeviceScope &operator=(const DeviceScope &) = delete;

private:
  bool isPushed = false;
};

/// Raises what a call ended with, in the runtime's words.
PyObject *raise(TilegymStatus status, const char *text);
void setErrorClass(PyObject *raiser);

} // namespace tilegym::python
