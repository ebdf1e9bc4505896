// SPDX-License-Identifier: MIT
// The module tilegym_aot._core: open a package, make function objects of its ops. What an op's arguments are comes from Python, which reads interface.json.
#include "Op.h"
#include "tilegym/format/Checksum.h"
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#ifdef TILEGYM_PYTHON_REFERENCE
#include "tilegym/reference.h"
#endif

namespace tilegym::python {
namespace {

constexpr const char *kPackageName = "tilegym_package";

OpenPackage *packageOf(PyObject *capsule) {
  return static_cast<OpenPackage *>(PyCapsule_GetPointer(capsule, kPackageName));
}

void closePackage(PyObject *capsule) {
  OpenPackage *package = packageOf(capsule);
  if (!package->library)
    tilegym_package_close(package->handle);
  delete package;
}

PyObject *capsuleOf(const OpenPackage &package) {
  return PyCapsule_New(new OpenPackage(package), kPackageName, closePackage);
}

/// open_file(path) -> package
PyObject *openFile(PyObject *, PyObject *path) {
  PyObject *bytes = nullptr;
  if (!PyUnicode_FSConverter(path, static_cast<void *>(&bytes)))
    return nullptr;
  Ref owned(bytes);
  OpenPackage package;
  TilegymStatus status = tilegym_package_open_file(PyBytes_AsString(bytes), &package.handle);
  return status == TILEGYM_OK ? capsuleOf(package) : raise(status, tilegym_last_error());
}

template <class Function> bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function;
}

/// open_library(path, name) -> package: the one that a shared library of kernels embeds
PyObject *openLibrary(PyObject *, PyObject *args) {
  PyObject *bytes = nullptr;
  const char *name = nullptr;
  if (!PyArg_ParseTuple(args, "O&s", PyUnicode_FSConverter, &bytes, &name))
    return nullptr;
  Ref owned(bytes);
  OpenPackage package;
  package.library = dlopen(PyBytes_AsString(bytes), RTLD_NOW | RTLD_LOCAL);
  if (!package.library)
    return raise(TILEGYM_BAD_PACKAGE, dlerror());
  Runtime &r = package.runtime;
  TilegymStatus (*opener)(TilegymPackage **) = nullptr;
  if (!find(package.library, (std::string(name) + "_package").c_str(), opener) ||
      !find(package.library, "tilegym_call_on", r.call) ||
      !find(package.library, "tilegym_backend", r.backend) ||
      !find(package.library, "tilegym_infer_shape", r.inferShape) ||
      !find(package.library, "tilegym_infer_list", r.inferList) ||
      !find(package.library, "tilegym_prepare", r.prepare) ||
      !find(package.library, "tilegym_explain", r.explain) ||
      !find(package.library, "tilegym_last_error", r.lastError) ||
      !find(package.library, "tilegym_package_num_ops", r.numOps) ||
      !find(package.library, "tilegym_package_op_name", r.opName))
    return raise(TILEGYM_BAD_PACKAGE, dlerror());
  find(package.library, "tilegym_add_vendor",
       r.addVendor); // which a program that never names it need not have
  TilegymStatus status = opener(&package.handle);
  return status == TILEGYM_OK ? capsuleOf(package) : raise(status, r.lastError());
}

/// checksum(bytes) -> str, as interface.json has it of its package
PyObject *checksum(PyObject *, PyObject *bytes) {
  char *data = nullptr, text[20];
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize(bytes, &data, &size) != 0)
    return nullptr;
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(format::checksum64(data, size_t(size))));
  return PyUnicode_FromString(text);
}

PyObject *opNames(PyObject *, PyObject *capsule) {
  OpenPackage *package = packageOf(capsule);
  Ref list(package ? PyList_New(0) : nullptr);
  for (size_t i = 0; list && i < package->runtime.numOps(package->handle); ++i) {
    Ref name(PyUnicode_FromString(package->runtime.opName(package->handle, i)));
    if (!name || PyList_Append(list.get(), name.get()) != 0)
      return nullptr;
  }
  return list.release();
}

/// add_vendor(package, op, product): the op is a product of matrices, with the numbers of TilegymProduct after its name
PyObject *addVendor(PyObject *, PyObject *args) {
  PyObject *capsule = nullptr;
  TilegymProduct p{};
  long long plainValue = 0;
  if (!PyArg_ParseTuple(args, "Os(iiiiiiiL)", &capsule, &p.op, &p.a, &p.b, &p.bias, &p.c, &p.turn_a,
                        &p.turn_b, &p.plain, &plainValue))
    return nullptr;
  p.plain_value = plainValue;
  OpenPackage *package = packageOf(capsule);
  if (!package)
    return nullptr;
  TilegymStatus status = package->runtime.addVendor ? package->runtime.addVendor(&p, 1) : TILEGYM_OK;
  return status == TILEGYM_OK ? Py_NewRef(Py_None) : raise(status, package->runtime.lastError());
}

bool readArgument(PyObject *tuple, Argument *a) {
  const char *name = nullptr;
  PyObject *choices = nullptr;
  int kind = 0, isOutput = 0, isWritten = 0, isOptional = 0, hasDefault = 0;
  if (!PyArg_ParseTuple(tuple, "siipppipO!", &name, &kind, &a->dtype, &isOutput, &isWritten, &isOptional,
                        &a->like, &hasDefault, &PyTuple_Type, &choices))
    return false;
  a->kind = Argument::Kind(kind);
  a->isOutput = isOutput;
  a->isWritten = isWritten;
  a->isOptional = isOptional;
  a->hasDefault = hasDefault;
  a->name = PyUnicode_InternFromString(name);
  for (Py_ssize_t i = 0; i < PyTuple_Size(choices); ++i) {
    PyObject *choice = Py_NewRef(PyTuple_GetItem(choices, i));
    PyUnicode_InternInPlace(&choice);
    a->choices.push_back(choice);
  }
  return true;
}

/// make_function(package, number, name, doc, arguments, output, redirect, action) -> function
PyObject *makeFunction(PyObject *module, PyObject *args) {
  PyObject *capsule = nullptr, *arguments = nullptr, *redirect = nullptr;
  const char *name = nullptr, *doc = nullptr;
  Py_ssize_t number = 0;
  int output = -1, action = 0;
  if (!PyArg_ParseTuple(args, "OnssO!iOi", &capsule, &number, &name, &doc, &PyTuple_Type, &arguments, &output,
                        &redirect, &action))
    return nullptr;
  OpenPackage *package = packageOf(capsule);
  if (!package)
    return nullptr;
  Py_ssize_t count = PyTuple_Size(arguments);
  if (count > kMaxArguments)
    return PyErr_Format(PyExc_ValueError, "%s has %zd arguments, and Python calls take %d at most", name,
                        count, kMaxArguments);
  auto op = new Op;
  op->package = Py_NewRef(capsule);
  op->handle = package->handle;
  op->runtime = package->runtime;
  op->number = size_t(number);
  op->name = name;
  op->doc = doc;
  op->output = output;
  op->redirect = redirect == Py_None ? nullptr : Py_NewRef(redirect);
  op->action = Action(action);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!readArgument(PyTuple_GetItem(arguments, i), &op->arguments.emplace_back())) {
      delete op; // what it refers to leaks, once, for a mistake of this package's own
      return nullptr;
    }
    op->inputs += !op->arguments.back().isOutput;
    op->hasLists |= op->arguments.back().kind == Argument::List;
  }
  Ref moduleName(PyUnicode_FromString("tilegym_aot"));
  return python::makeFunction(op, moduleName.get());
}

PyObject *setHooks(PyObject *, PyObject *args) {
  PyObject *frameworks = nullptr, *function = nullptr;
  if (!PyArg_ParseTuple(args, "OO", &frameworks, &function))
    return nullptr;
  setHelpers(frameworks);
  setErrorClass(function);
  return Py_NewRef(Py_None);
}

PyObject *setExchange(PyObject *, PyObject *on) {
  useExchange(PyObject_IsTrue(on) == 1);
  return Py_NewRef(Py_None);
}

/// use_reference(on) -> bool: what it was
PyObject *setReference(PyObject *, PyObject *on) {
#ifdef TILEGYM_PYTHON_REFERENCE
  return PyBool_FromLong(tilegym_use_reference(PyObject_IsTrue(on) == 1));
#else
  if (PyObject_IsTrue(on) != 1)
    return PyBool_FromLong(0);
  return raise(TILEGYM_UNAVAILABLE,
               "tilegym_aot was built without the reference backend; install it again with "
               "TILEGYM_PYTHON_REFERENCE=1 in the environment");
#endif
}

/// set_backend(name): for calls that name none
PyObject *setBackend(PyObject *, PyObject *text) {
  const char *name = PyUnicode_AsUTF8AndSize(text, nullptr);
  if (!name)
    return nullptr;
  int32_t backend = tilegym_backend(name);
  if (backend == TILEGYM_BACKEND_DEFAULT)
    return PyErr_Format(PyExc_ValueError, "there is no backend '%s'", name);
  TilegymStatus status = tilegym_set_backend(backend);
  return status == TILEGYM_OK ? Py_NewRef(Py_None) : raise(status, tilegym_last_error());
}

PyObject *currentBackend(PyObject *, PyObject *) {
  return PyUnicode_FromString(tilegym_backend_name(tilegym_current_backend()));
}

/// set_early_launch(on) -> bool
PyObject *setEarlyLaunch(PyObject *, PyObject *on) {
  int wanted = PyObject_IsTrue(on);
  return wanted < 0 ? nullptr : PyBool_FromLong(tilegym_set_early_launch(wanted));
}

/// describe(package or None, as_json) -> str
PyObject *describe(PyObject *, PyObject *args) {
  PyObject *capsule = nullptr;
  int isJson = 0;
  if (!PyArg_ParseTuple(args, "Op", &capsule, &isJson))
    return nullptr;
  OpenPackage *package = capsule == Py_None ? nullptr : packageOf(capsule);
  if (capsule != Py_None && !package)
    return nullptr;
  const char *text = nullptr;
  TilegymStatus status =
      tilegym_describe(package ? package->handle : nullptr, isJson ? TILEGYM_JSON : TILEGYM_TEXT, &text);
  return status == TILEGYM_OK ? PyUnicode_FromString(text) : raise(status, tilegym_last_error());
}

PyMethodDef methods[] = {
    {"open_file", openFile, METH_O, "open_file(path, /)\n--\n\nOpens a .tgk file."},
    {"open_library", openLibrary, METH_VARARGS, nullptr},
    {"checksum", checksum, METH_O,
     "checksum(data, /)\n--\n\nOf a package's bytes, as interface.json has it."},
    {"op_names", opNames, METH_O, "op_names(package, /)\n--\n\nThe package's ops, in order."},
    {"add_vendor", addVendor, METH_VARARGS, nullptr},
    {"make_function", makeFunction, METH_VARARGS, nullptr},
    {"set_hooks", setHooks, METH_VARARGS, nullptr},
    {"set_exchange", setExchange, METH_O, nullptr},
    {"set_backend", setBackend, METH_O, nullptr},
    {"current_backend", currentBackend, METH_NOARGS, nullptr},
    {"set_early_launch", setEarlyLaunch, METH_O, nullptr},
    {"describe", describe, METH_VARARGS, nullptr},
    {"use_reference", setReference, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "tilegym_aot._core", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

} // namespace
} // namespace tilegym::python

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): Python looks for this name
PyMODINIT_FUNC PyInit__core() {
#ifdef TILEGYM_PYTHON_REFERENCE
  tilegym_add_reference();
#endif
  return PyModule_Create(&tilegym::python::definition);
}
