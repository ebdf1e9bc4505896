// SPDX-License-Identifier: MIT
// A call from Python: arguments by place and name, views of tensors, values of scalars, new outputs, the runtime's call.
#include "Op.h"
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace tilegym::python {
namespace {

PyObject *raiser = nullptr;
PyObject *requiresGradName = nullptr, *outName = nullptr, *streamName = nullptr, *backendName = nullptr;

union Value {
  double f64;
  float f32;
  int64_t i64;
  int32_t i32;
  int16_t i16;
  int8_t i8;
};

/// One call's state: on the stack, and set only as far as the op has arguments.
class Call {
public:
  Call(const Op &op) : op(op), count(int(op.arguments.size())) {
    std::fill_n(given, count, nullptr);
    std::fill_n(pointers, count, nullptr);
    if (op.hasLists)
      lists = std::make_unique<List[]>(size_t(count));
  }
  ~Call() {
    for (int i = 0; i < count; ++i) {
      for (size_t k = 0; lists && k < lists[i].views.size(); ++k)
        close(&lists[i].views[k]);
      if (pointers[i] && op.arguments[i].kind == Argument::Tensor)
        close(&views[i]);
      if (isMade(i))
        Py_XDECREF(given[i]);
    }
  }

  bool takeArguments(PyObject *const *args, Py_ssize_t positional, PyObject *names);
  /// 1: done; 0: torch's dispatch must take the call; -1: an error is set.
  int readInputs();
  bool makeOutputs();
  PyObject *finish();
  DLDevice device() const { return first ? first->device : DLDevice{kDLCpu, 0}; }

private:
  const Op &op;
  const int count;
  PyObject *given[kMaxArguments]; ///< borrowed, but where `made` says so
  const void *pointers[kMaxArguments];
  View views[kMaxArguments];
  Value values[kMaxArguments];
  struct Shape {
    int64_t extents[TILEGYM_MAX_RANK];
    int32_t rank, dtype;
  } shapes[kMaxArguments];      ///< of outputs that no input is like
  bool isWanted[kMaxArguments]; ///< outputs to be made
  struct List {
    std::vector<View> views;
    std::vector<TilegymTensor> tensors;
    TilegymTensorList list;
    std::vector<Shape> shapes; ///< of outputs
  };
  std::unique_ptr<List[]> lists; ///< by argument, of ops that have some
  uint64_t made = 0;
  PyObject *streamGiven = nullptr, *backendGiven = nullptr;
  int32_t backend = TILEGYM_BACKEND_DEFAULT;
  int64_t producersStream = -1;
  const View *first = nullptr; ///< of the tensors; its framework makes the outputs

  bool isMade(int i) const { return made >> i & 1; }
  const char *nameOf(int i) const;
  int lookAtOutputs();
  bool inferShapes();
  bool inferList(int i);
  bool readTensor(int i) { return readView(i, given[i], -1, &views[i]) && (pointers[i] = &views[i].tensor); }
  bool readView(int i, PyObject *object, Py_ssize_t element, View *view);
  bool readList(int i);
  bool makeList(int i);
  bool endList(int i);
  bool isPlain(int i, PyObject *tensor, Py_ssize_t element);
  bool readScalar(int i);
  int choiceOf(int i) const;
  bool takeStream();
  bool takeBackend();
  PyObject *failed() { return raise(status, op.runtime.lastError()); }
  TilegymStatus status = TILEGYM_OK;
};

const char *Call::nameOf(int i) const {
  const char *text = PyUnicode_AsUTF8AndSize(op.arguments[i].name, nullptr);
  return text ? text : "?";
}

bool Call::takeArguments(PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  if (positional > op.inputs) {
    PyErr_Format(PyExc_TypeError,
                 "%s() takes %d positional arguments but %zd were given; outputs are given by name",
                 op.name.c_str(), op.inputs, positional);
    return false;
  }
  std::copy_n(args, positional, given);
  Py_ssize_t named = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t n = 0; n < named; ++n) {
    PyObject *name = PyTuple_GetItem(names, n), *value = args[positional + n];
    auto is = [&](PyObject *other) { return name == other || PyUnicode_Compare(name, other) == 0; };
    int i = 0;
    while (i < count && op.arguments[i].name != name)
      ++i;
    if (i == count)
      for (i = 0; i < count && !is(op.arguments[i].name);)
        ++i;
    if (i == count && op.output >= 0 && is(outName))
      i = op.output;
    if (i < count && given[i]) {
      PyErr_Format(PyExc_TypeError, "%s() got multiple values for argument '%s'", op.name.c_str(), nameOf(i));
      return false;
    }
    if (i < count) {
      given[i] = value;
    } else if (is(streamName)) {
      streamGiven = value;
    } else if (is(backendName)) {
      backendGiven = value;
    } else {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument '%U'; expected %s",
                   op.name.c_str(), name, op.doc.substr(0, op.doc.find('\n')).c_str());
      return false;
    }
  }
  for (int i = 0; i < count; ++i)
    if (given[i] == Py_None)
      given[i] = nullptr;
  return (!streamGiven || streamGiven == Py_None || takeStream()) &&
         (!backendGiven || backendGiven == Py_None || takeBackend());
}

bool Call::takeBackend() {
  const char *name = PyUnicode_AsUTF8AndSize(backendGiven, nullptr);
  if (!name)
    return false;
  backend = op.runtime.backend(name);
  if (backend == TILEGYM_BACKEND_DEFAULT)
    PyErr_Format(PyExc_ValueError, "%s: there is no backend '%s'", op.name.c_str(), name);
  return backend != TILEGYM_BACKEND_DEFAULT;
}

/// A number, or an object of torch's, CuPy's or CUDA's own that has one.
bool Call::takeStream() {
  Ref number = PyLong_Check(streamGiven)
                   ? Ref::borrowed(streamGiven)
                   : Ref(PyObject_CallMethod(helpers(), "stream_number", "O", streamGiven));
  if (!number)
    return false;
  producersStream = PyLong_AsLongLong(number.get());
  return !PyErr_Occurred();
}

/// "a", or "a[3]" of a list.
static std::string called(const char *name, Py_ssize_t element) {
  return element < 0 ? name : std::string(name) + "[" + std::to_string(element) + "]";
}

bool Call::readView(int i, PyObject *object, Py_ssize_t element, View *view) {
  const Framework *framework = frameworkOf(object);
  if (!framework)
    return false;
  if (framework->protocol == Protocol::None) {
    PyErr_Format(PyExc_TypeError, "%s: %s is no tensor: it has no __dlpack__", op.name.c_str(),
                 called(nameOf(i), element).c_str());
    return false;
  }
  if (!read(object, framework, producersStream, view))
    return false;
  if (view->isReadOnly && op.arguments[i].isWritten) {
    PyErr_Format(PyExc_ValueError, "%s: %s is read-only and would be written", op.name.c_str(),
                 called(nameOf(i), element).c_str());
  } else if (first && (view->device.id != first->device.id || view->device.type != first->device.type)) {
    PyErr_Format(
        PyExc_ValueError,
        "%s: %s is on device %d of DLPack's type %d, expected device %d of type %d as the first tensor's",
        op.name.c_str(), called(nameOf(i), element).c_str(), int(view->device.id), int(view->device.type),
        int(first->device.id), int(first->device.type));
  } else {
    if (!first)
      first = view;
    return true;
  }
  close(view);
  return false;
}

static Py_ssize_t lengthOf(PyObject *list) {
  return PyList_Check(list) ? PyList_Size(list) : PyTuple_Size(list);
}
static PyObject *elementOf(PyObject *list, Py_ssize_t i) {
  return PyList_Check(list) ? PyList_GetItem(list, i) : PyTuple_GetItem(list, i);
}

bool Call::readList(int i) {
  if (!PyList_Check(given[i]) && !PyTuple_Check(given[i])) {
    PyErr_Format(PyExc_TypeError, "%s: %s is no list or tuple of tensors", op.name.c_str(), nameOf(i));
    return false;
  }
  Py_ssize_t length = lengthOf(given[i]);
  List &list = lists[i];
  list.views.reserve(size_t(length)); // they stay where they are
  for (Py_ssize_t k = 0; k < length; ++k) {
    PyObject *tensor = elementOf(given[i], k);
    View view;
    const View *known = first;
    if (!isPlain(i, tensor, k) || !readView(i, tensor, k, &view))
      return false;
    list.views.push_back(view);
    if (!known)
      first = &list.views.back();
  }
  return endList(i);
}

/// What the C interface takes for the views.
bool Call::endList(int i) {
  List &list = lists[i];
  for (const View &view : list.views)
    list.tensors.push_back(view.tensor);
  list.list = {list.tensors.data(), list.tensors.size()};
  pointers[i] = &list.list;
  return true;
}

int Call::choiceOf(int i) const {
  const std::vector<PyObject *> &choices = op.arguments[i].choices;
  for (size_t c = 0; c < choices.size(); ++c)
    if (given[i] == choices[c])
      return int(c);
  for (size_t c = 0; c < choices.size(); ++c)
    if (PyUnicode_Check(given[i]) && PyUnicode_Compare(given[i], choices[c]) == 0)
      return int(c);
  Ref list(PyUnicode_FromString(""));
  for (PyObject *choice : choices)
    list = Ref(PyUnicode_FromFormat(list && PyUnicode_GetLength(list.get()) ? "%U, %R" : "%U%R", list.get(),
                                    choice));
  PyErr_Format(PyExc_ValueError, "%s: %s is %R, expected one of %U", op.name.c_str(), nameOf(i), given[i],
               list.get());
  return -1;
}

bool Call::readScalar(int i) {
  const Argument &a = op.arguments[i];
  Value &v = values[i];
  pointers[i] = &v;
  if (!a.choices.empty()) {
    v.i64 = choiceOf(i);
    return v.i64 >= 0;
  }
  if (a.kind == Argument::Const) {
    v.i64 = a.dtype == TILEGYM_BOOL ? PyObject_IsTrue(given[i]) : PyLong_AsLongLong(given[i]);
    return !PyErr_Occurred();
  }
  auto integer = [&](int bits, bool isSigned) {
    v.i64 = isSigned ? PyLong_AsLongLong(given[i]) : int64_t(PyLong_AsUnsignedLongLong(given[i]));
    if (PyErr_Occurred())
      return false;
    bool fits = bits == 64 || (isSigned ? v.i64 >> (bits - 1) == 0 || v.i64 >> (bits - 1) == -1
                                        : uint64_t(v.i64) >> bits == 0);
    if (!fits)
      PyErr_Format(PyExc_OverflowError, "%s: %s is %S, which does not fit %d bits", op.name.c_str(),
                   nameOf(i), given[i], bits);
    return fits; // little-endian: its low bytes are the value
  };
  switch (a.dtype) {
  case TILEGYM_F64:
    v.f64 = PyFloat_AsDouble(given[i]);
    return !PyErr_Occurred();
  case TILEGYM_F32:
    v.f32 = float(PyFloat_AsDouble(given[i]));
    return !PyErr_Occurred();
  case TILEGYM_I8:
    return integer(8, true);
  case TILEGYM_I16:
    return integer(16, true);
  case TILEGYM_I32:
    return integer(32, true);
  case TILEGYM_I64:
    return integer(64, true);
  case TILEGYM_U8:
    return integer(8, false);
  case TILEGYM_U16:
    return integer(16, false);
  case TILEGYM_U32:
    return integer(32, false);
  case TILEGYM_U64:
    return integer(64, false);
  case TILEGYM_BOOL:
    v.i64 = PyObject_IsTrue(given[i]);
    return !PyErr_Occurred();
  default:
    PyErr_Format(PyExc_TypeError, "%s: %s is a scalar of a dtype that Python has no value for",
                 op.name.c_str(), nameOf(i));
    return false;
  }
}

/// Whether autograd must see the call: it is on, and an input asks for a gradient.
static int wantsGradient(PyObject *tensor) {
  Ref wanted(PyObject_GetAttr(tensor, requiresGradName));
  if (!wanted)
    return -1;
  if (wanted.get() != Py_True)
    return 0;
  Ref isOn(PyObject_CallMethod(helpers(), "is_grad_enabled", nullptr));
  return isOn ? PyObject_IsTrue(isOn.get()) : -1;
}

/// Torch's dispatch knows no ops on lists: autograd, torch.compile and subclasses are refused rather than passed by.
bool Call::isPlain(int i, PyObject *tensor, Py_ssize_t element) {
  const Framework *framework = frameworkOf(tensor);
  if (!framework)
    return false;
  int wanted = framework->isTorch ? wantsGradient(tensor) : 0;
  if (wanted > 0)
    PyErr_Format(PyExc_NotImplementedError,
                 "%s: %s requires a gradient, which ops on lists have not; call it under torch.no_grad()",
                 op.name.c_str(), called(nameOf(i), element).c_str());
  else if (!wanted && framework->protocol == Protocol::Redirect)
    PyErr_Format(PyExc_NotImplementedError,
                 "%s: %s is a tensor that torch's dispatch has to see, which ops on lists are no part of",
                 op.name.c_str(), called(nameOf(i), element).c_str());
  return !wanted && framework->protocol != Protocol::Redirect;
}

int Call::readInputs() {
  for (int i = 0; i < op.inputs; ++i) {
    const Argument &a = op.arguments[i];
    if (!given[i]) {
      if (a.kind == Argument::Tensor || a.kind == Argument::List ? a.isOptional : a.hasDefault)
        continue;
      PyErr_Format(PyExc_TypeError, "%s() missing required argument '%s'", op.name.c_str(), nameOf(i));
      return -1;
    }
    if (a.kind == Argument::List) {
      if (!readList(i))
        return -1;
      continue;
    }
    if (a.kind != Argument::Tensor) {
      if (!readScalar(i))
        return -1;
      continue;
    }
    const Framework *framework = frameworkOf(given[i]);
    if (framework && op.redirect) {
      int wanted = framework->isTorch ? wantsGradient(given[i]) : 0;
      if (wanted || framework->protocol == Protocol::Redirect)
        return wanted < 0 ? -1 : 0;
    }
    if (!framework || !readTensor(i))
      return -1;
  }
  return op.redirect ? lookAtOutputs() : 1;
}

/// Of outputs that are given: torch's dispatch takes the call where one is its own affair, and none may be part of a graph of autograd.
int Call::lookAtOutputs() {
  for (int i = op.inputs; i < count; ++i) {
    if (!given[i] || given[i] == Py_True || given[i] == Py_False)
      continue;
    const Framework *framework = frameworkOf(given[i]);
    if (!framework)
      return -1;
    if (framework->protocol == Protocol::Redirect)
      return 0;
    int wanted = framework->isTorch ? wantsGradient(given[i]) : 0;
    if (wanted > 0)
      PyErr_Format(PyExc_RuntimeError, "%s: %s requires a gradient and would be written in place",
                   op.name.c_str(), nameOf(i));
    if (wanted)
      return -1;
  }
  return 1;
}

/// Shapes of the tensors of an output list.
bool Call::inferList(int i) {
  Shape shape;
  for (size_t element = 0, length = 1; element < length; ++element) {
    status = op.runtime.inferList(op.handle, op.number, pointers, size_t(i), element, &length, shape.extents,
                                  &shape.rank, &shape.dtype);
    if (status != TILEGYM_OK)
      return false;
    if (element < length)
      lists[i].shapes.push_back(shape);
  }
  return true;
}

bool Call::makeList(int i) {
  List &list = lists[i];
  given[i] = PyList_New(Py_ssize_t(list.shapes.size()));
  if (!given[i])
    return false;
  made |= uint64_t(1) << i;
  list.views.reserve(list.shapes.size());
  for (size_t k = 0; k < list.shapes.size(); ++k) {
    const Shape &shape = list.shapes[k];
    View view;
    PyObject *tensor = allocate(*first, shape.extents, shape.rank, shape.dtype, &view);
    if (!tensor)
      return false;
    list.views.push_back(view);
    if (PyList_SetItem(given[i], Py_ssize_t(k), tensor) != 0)
      return false;
  }
  return endList(i);
}

/// Before any output is there: an op may want some of them together.
bool Call::inferShapes() {
  for (int i = op.inputs; i < count; ++i) {
    const Argument &a = op.arguments[i];
    if (given[i] == Py_False && a.isOptional)
      given[i] = nullptr;
    isWanted[i] = given[i] ? given[i] == Py_True : !a.isOptional;
    if (!isWanted[i] || a.like >= 0)
      continue;
    if (a.kind == Argument::List) {
      if (!inferList(i))
        return failed();
      continue;
    }
    Shape &shape = shapes[i];
    status = op.runtime.inferShape(op.handle, op.number, pointers, size_t(i), shape.extents, &shape.rank,
                                   &shape.dtype);
    if (status != TILEGYM_OK)
      return failed();
  }
  return true;
}

bool Call::makeOutputs() {
  if (!inferShapes())
    return false;
  for (int i = op.inputs; i < count; ++i) {
    const Argument &a = op.arguments[i];
    bool isList = a.kind == Argument::List;
    if (!isWanted[i]) {
      if (given[i] && !(isList ? readList(i) : readTensor(i)))
        return false;
      continue;
    }
    if (!first) {
      PyErr_Format(PyExc_TypeError, "%s: no tensor says where %s belongs; give it", op.name.c_str(),
                   nameOf(i));
      return false;
    }
    if (isList) {
      if (!makeList(i))
        return false;
      continue;
    }
    given[i] = a.like >= 0 ? allocateLike(views[a.like], &views[i])
                           : allocate(*first, shapes[i].extents, shapes[i].rank, shapes[i].dtype, &views[i]);
    if (!given[i])
      return false;
    made |= uint64_t(1) << i;
    pointers[i] = &views[i].tensor;
  }
  return true;
}

PyObject *Call::finish() {
  if (op.action == Action::Prepare) {
    status = op.runtime.prepare(op.handle, op.number, pointers);
    return status == TILEGYM_OK ? Py_NewRef(Py_None) : failed();
  }
  if (op.action == Action::Explain) {
    const char *text = nullptr;
    status = op.runtime.explain(op.handle, op.number, pointers, &text);
    return status == TILEGYM_OK ? PyUnicode_FromString(text) : failed();
  }
  void *stream = reinterpret_cast<void *>(producersStream);
  if (producersStream < 0 && first && !currentStream(*first, &stream))
    return nullptr;
  status = op.runtime.call(op.handle, op.number, pointers, stream, backend);
  if (status != TILEGYM_OK)
    return failed();
  int outputs = 0, last = -1;
  for (int i = op.inputs; i < count; ++i)
    if (given[i]) {
      ++outputs;
      last = i;
    }
  if (outputs == 1)
    return Py_NewRef(given[last]);
  PyObject *tuple = PyTuple_New(outputs);
  for (int i = op.inputs, at = 0; tuple && i < count; ++i)
    if (given[i] && PyTuple_SetItem(tuple, at++, Py_NewRef(given[i])) != 0)
      return nullptr;
  return tuple;
}

PyObject *redirect(const Op &op, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  Ref tuple(PyTuple_New(positional)), keywords(PyDict_New());
  for (Py_ssize_t i = 0; tuple && i < positional; ++i)
    PyTuple_SetItem(tuple.get(), i, Py_NewRef(args[i]));
  for (Py_ssize_t n = 0; keywords && names && n < PyTuple_Size(names); ++n)
    PyDict_SetItem(keywords.get(), PyTuple_GetItem(names, n), args[positional + n]);
  return tuple && keywords ? PyObject_Call(op.redirect, tuple.get(), keywords.get()) : nullptr;
}

PyObject *call(PyObject *self, PyObject *const *args, Py_ssize_t positional, PyObject *names) {
  const Op &op = *static_cast<const Op *>(PyCapsule_GetPointer(self, nullptr));
  Call state(op);
  if (!state.takeArguments(args, positional, names))
    return nullptr;
  switch (state.readInputs()) {
  case -1:
    return nullptr;
  case 0:
    return redirect(op, args, positional, names);
  }
  DeviceScope scope(state.device());
  return state.makeOutputs() ? state.finish() : nullptr;
}

void destroy(PyObject *capsule) {
  Op *op = static_cast<Op *>(PyCapsule_GetPointer(capsule, nullptr));
  Py_XDECREF(op->package);
  Py_XDECREF(op->redirect);
  for (Argument &a : op->arguments) {
    Py_XDECREF(a.name);
    for (PyObject *choice : a.choices)
      Py_XDECREF(choice);
  }
  delete op;
}

} // namespace

PyObject *makeFunction(Op *op, PyObject *module) {
  if (!requiresGradName) {
    requiresGradName = PyUnicode_InternFromString("requires_grad");
    outName = PyUnicode_InternFromString("out");
    streamName = PyUnicode_InternFromString("stream");
    backendName = PyUnicode_InternFromString("backend");
  }
  op->method = {op->name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
                METH_FASTCALL | METH_KEYWORDS, op->doc.c_str()};
  Ref self(PyCapsule_New(op, nullptr, destroy));
  if (!self) {
    delete op;
    return nullptr;
  }
  return PyCFunction_NewEx(&op->method, self.get(), module);
}

PyObject *raise(TilegymStatus status, const char *text) {
  Ref made(PyObject_CallFunction(raiser, "is", int(status), text));
  if (made)
    PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(made.get())), made.get());
  return nullptr;
}
void setErrorClass(PyObject *function) {
  Py_INCREF(function);
  raiser = function;
}

} // namespace tilegym::python
