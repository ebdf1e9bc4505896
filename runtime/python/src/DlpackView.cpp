// SPDX-License-Identifier: MIT
// Reading and making tensors through DLPack.
#include "DlpackView.h"
#include <algorithm>
#include <map>

namespace tilegym::python {
namespace {

// All of this is read and written under the interpreter's lock.
bool exchangeIsUsed = true;
PyObject *helperModule = nullptr;
std::map<PyObject *, Framework> knownTypes; // which stay alive by it
PyTypeObject *lastType = nullptr;
const Framework *lastFramework = nullptr;

int32_t dtypeOf(DLDataType type) {
  if (type.lanes != 1)
    return -1;
  switch (type.code * 256 + type.bits) {
  case 2 * 256 + 64:
    return TILEGYM_F64;
  case 2 * 256 + 32:
    return TILEGYM_F32;
  case 2 * 256 + 16:
    return TILEGYM_F16;
  case 4 * 256 + 16:
    return TILEGYM_BF16;
  case 10 * 256 + 8:
    return TILEGYM_F8E4M3;
  case 12 * 256 + 8:
    return TILEGYM_F8E5M2;
  case 0 * 256 + 8:
    return TILEGYM_I8;
  case 0 * 256 + 16:
    return TILEGYM_I16;
  case 0 * 256 + 32:
    return TILEGYM_I32;
  case 0 * 256 + 64:
    return TILEGYM_I64;
  case 1 * 256 + 8:
    return TILEGYM_U8;
  case 1 * 256 + 16:
    return TILEGYM_U16;
  case 1 * 256 + 32:
    return TILEGYM_U32;
  case 1 * 256 + 64:
    return TILEGYM_U64;
  case 6 * 256 + 8:
    return TILEGYM_BOOL;
  default:
    return -1;
  }
}

DLDataType typeOf(int32_t dtype) {
  static constexpr uint8_t codes[] = {2, 2, 2, 4, 10, 12, 0, 0, 0, 0, 1, 1, 1, 1, 6};
  static constexpr uint8_t bits[] = {64, 32, 16, 16, 8, 8, 8, 16, 32, 64, 8, 16, 32, 64, 8};
  return {codes[dtype], bits[dtype], 1};
}

bool fill(const DLTensor &tensor, View *view) {
  int32_t dtype = dtypeOf(tensor.dtype);
  if (dtype < 0) {
    PyErr_Format(PyExc_TypeError, "no op takes tensors of DLPack's dtype code %d with %d bits and %d lanes",
                 int(tensor.dtype.code), int(tensor.dtype.bits), int(tensor.dtype.lanes));
    return false;
  }
  if (tensor.rank > TILEGYM_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "a tensor has %d axes, and ops take %d at most", int(tensor.rank),
                 TILEGYM_MAX_RANK);
    return false;
  }
  view->tensor = {tensor.data ? static_cast<char *>(tensor.data) + tensor.byteOffset : nullptr, tensor.shape,
                  tensor.strides, tensor.rank, dtype};
  view->device = tensor.device;
  return true;
}

bool readCapsule(PyObject *capsule, View *view) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto *managed =
        static_cast<DLManagedTensorVersioned *>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    if (managed->version.major != 1) {
      PyErr_Format(PyExc_BufferError, "a tensor came by DLPack %u, expected version 1",
                   managed->version.major);
      return false;
    }
    view->isReadOnly = managed->flags & kDLReadOnly;
    return fill(managed->tensor, view);
  }
  auto *managed = static_cast<DLManagedTensor *>(PyCapsule_GetPointer(capsule, "dltensor"));
  return managed && fill(managed->tensor, view);
}

const Framework *classify(PyObject *type) {
  auto [at, isNew] = knownTypes.try_emplace(type);
  if (!isNew)
    return &at->second;
  Ref answer(PyObject_CallMethod(helperModule, "classify", "O", type));
  Py_ssize_t protocol = answer ? PyLong_AsSsize_t(answer.get()) : -1;
  if (PyErr_Occurred()) {
    knownTypes.erase(at);
    return nullptr;
  }
  Py_INCREF(type);
  // In the order of _frameworks.py: none, torch, a torch tensor of another type, anything with __dlpack__.
  at->second.isTorch = protocol == 1;
  at->second.protocol = protocol == 0   ? Protocol::None
                        : protocol == 1 ? Protocol::Torch
                        : protocol == 2 ? Protocol::Redirect
                                        : Protocol::Capsule;
  if (!exchangeIsUsed || protocol == 0 || protocol == 2)
    return &at->second;
  Ref capsule(PyObject_GetAttrString(type, "__dlpack_c_exchange_api__"));
  PyErr_Clear();
  if (!capsule || !PyCapsule_IsValid(capsule.get(), kExchangeName))
    return &at->second;
  auto *table = static_cast<DLExchange *>(PyCapsule_GetPointer(capsule.get(), kExchangeName));
  while (table && table->version.major > 1)
    table = table->previous;
  if (table && table->borrow) {
    at->second.exchange = table;
    at->second.protocol = Protocol::Exchange;
  }
  return &at->second;
}

} // namespace

const Framework *frameworkOf(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (type != lastType) {
    const Framework *found = classify(reinterpret_cast<PyObject *>(type));
    if (!found)
      return nullptr;
    lastType = type;
    lastFramework = found;
  }
  return lastFramework;
}

bool read(PyObject *object, const Framework *framework, int64_t stream, View *view) {
  view->object = object;
  view->framework = framework;
  view->capsule = nullptr;
  view->isReadOnly = false;
  if (framework->protocol == Protocol::Exchange) {
    DLTensor tensor;
    return framework->exchange->borrow(object, &tensor) == 0 && fill(tensor, view);
  }
  Ref capsule(PyObject_CallMethod(helperModule, "capsule", "OL", object, static_cast<long long>(stream)));
  if (!capsule || !readCapsule(capsule.get(), view))
    return false;
  view->capsule = capsule.release();
  return true;
}

void close(View *view) {
  Py_XDECREF(view->capsule);
  view->capsule = nullptr;
}

bool currentStream(const View &view, void **stream) {
  *stream = nullptr;
  if (view.device.type != kDLCuda)
    return true;
  if (view.framework->protocol == Protocol::Exchange)
    return view.framework->exchange->currentStream(view.device.type, view.device.id, stream) == 0;
  Ref number(PyObject_CallMethod(helperModule, "current_stream", "Oi", view.object, int(view.device.id)));
  if (!number)
    return false;
  *stream = PyLong_AsVoidPtr(number.get());
  return !PyErr_Occurred();
}

static bool isContiguous(const TilegymTensor &tensor) {
  int64_t expected = 1;
  for (int32_t axis = tensor.rank; tensor.strides && axis-- > 0; expected *= tensor.shape[axis])
    if (tensor.strides[axis] != expected && tensor.shape[axis] != 1)
      return false;
  return true;
}

static void setError(void *, const char *kind, const char *message) {
  PyGILState_STATE state = PyGILState_Ensure();
  PyErr_Format(PyExc_RuntimeError, "%s: %s", kind ? kind : "allocation failed", message ? message : "");
  PyGILState_Release(state);
}

/// Torch's functions that make tensors: what `torch_makers` of _frameworks.py gives.
struct Makers {
  PyObject *emptyLike = nullptr;
  PyObject *emptyStrided =
      nullptr; ///< on the current GPU, without torch's dispatch: a third of the time; null where torch has none
  PyObject *dtypes = nullptr; ///< by TilegymDType
};

static const Makers *torchMakers() {
  static Makers makers;
  if (!makers.emptyLike) {
    Ref found(PyObject_CallMethod(helperModule, "torch_makers", nullptr));
    if (!found)
      return nullptr;
    makers.emptyStrided = PyTuple_GetItem(found.get(), 1);
    makers.dtypes = PyTuple_GetItem(found.get(), 2);
    if (makers.emptyStrided == Py_None)
      makers.emptyStrided = nullptr;
    makers.emptyLike = PyTuple_GetItem(found.release(), 0); // the tuple stays, and they in it
  }
  return &makers;
}

/// A packed tensor on the current GPU; null, without an error, where one of the general ways must make it.
static PyObject *emptyStrided(const View &like, const int64_t *shape, int32_t rank, int32_t dtype,
                              View *view) {
  const Makers *makers = like.device.type == kDLCuda && like.framework->isTorch ? torchMakers() : nullptr;
  PyObject *type = makers && makers->emptyStrided ? PyList_GetItem(makers->dtypes, dtype) : Py_None;
  if (type == Py_None)
    return nullptr;
  Ref extents(PyTuple_New(rank)), strides(PyTuple_New(rank));
  int64_t stride = 1;
  for (int32_t axis = rank; axis-- > 0; stride *= std::max<int64_t>(shape[axis], 1)) {
    PyTuple_SetItem(extents.get(), axis, PyLong_FromLongLong(shape[axis]));
    PyTuple_SetItem(strides.get(), axis, PyLong_FromLongLong(stride));
  }
  Ref made(PyObject_CallFunctionObjArgs(makers->emptyStrided, extents.get(), strides.get(), type, nullptr));
  if (made && read(made.get(), like.framework, -1, view)) {
    if (view->device.id == like.device.id)
      return made.release();
    close(view); // what torch takes for the current device is another
  }
  PyErr_Clear();
  return nullptr;
}

PyObject *allocateLike(const View &like, View *view) {
  const TilegymTensor &tensor = like.tensor;
  if (!like.framework->isTorch || !isContiguous(tensor))
    return allocate(like, tensor.shape, tensor.rank, tensor.dtype, view);
  if (PyObject *made = emptyStrided(like, tensor.shape, tensor.rank, tensor.dtype, view))
    return made;
  const Makers *makers = torchMakers();
  if (!makers)
    return nullptr;
  Ref made(PyObject_CallFunctionObjArgs(makers->emptyLike, like.object, nullptr));
  return made && read(made.get(), like.framework, -1, view) ? made.release() : nullptr;
}

PyObject *allocate(const View &like, const int64_t *shape, int32_t rank, int32_t dtype, View *view) {
  const Framework *framework = like.framework;
  if (PyObject *made = emptyStrided(like, shape, rank, dtype, view))
    return made;
  if (framework->protocol == Protocol::Exchange) {
    DLTensor prototype{nullptr, like.device, rank, typeOf(dtype), const_cast<int64_t *>(shape), nullptr, 0};
    DLManagedTensorVersioned *managed = nullptr;
    void *object = nullptr;
    if (framework->exchange->allocate(&prototype, &managed, nullptr, setError) != 0 ||
        framework->exchange->toObject(managed, &object) != 0)
      return nullptr;
    Ref made(static_cast<PyObject *>(object));
    return read(made.get(), framework, -1, view) ? made.release() : nullptr;
  }
  Ref extents(PyTuple_New(rank));
  for (int32_t axis = 0; extents && axis < rank; ++axis)
    if (PyTuple_SetItem(extents.get(), axis, PyLong_FromLongLong(shape[axis])) != 0)
      return nullptr;
  Ref made(extents
               ? PyObject_CallMethod(helperModule, "allocate", "OOi", like.object, extents.get(), int(dtype))
               : nullptr);
  return made && read(made.get(), framework, -1, view) ? made.release() : nullptr;
}

void useExchange(bool on) {
  exchangeIsUsed = on;
  knownTypes.clear();
  lastType = nullptr;
}

bool setHelpers(PyObject *module) {
  Py_INCREF(module);
  helperModule = module;
  return true;
}
PyObject *helpers() { return helperModule; }

} // namespace tilegym::python
