// SPDX-License-Identifier: MIT
// Tensors from and to other libraries: DLPack's structures as its header has them (0.8 and 1.0), spans, and pointers whose type says the dtype.
#include "tilegym/dlpack.hpp"
#include "tests/unit/runtime/Calls.h"
#include "tests/unit/runtime/Fake.h"

using namespace tilegym::testing;

namespace {

enum DLDeviceType { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLROCM = 10 };
struct DLDevice {
  DLDeviceType device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void *manager_ctx;
  void (*deleter)(DLManagedTensor *self);
};
struct DLPackVersion {
  uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void *manager_ctx;
  void (*deleter)(DLManagedTensorVersioned *self);
  uint64_t flags;
  DLTensor dl_tensor;
};

} // namespace

TEST_CASE("a DLPack tensor is a view of its memory") {
  int64_t shape[] = {2, 3}, strides[] = {1, 2};
  DLTensor t{memory(), {kDLCUDA, 0}, 2, {2, 16, 1}, shape, strides, 64};
  tilegym::TensorView view = tilegym::fromDLPack(t);
  CHECK(view.data() == memory() + 64);
  CHECK((view.dtype() == TILEGYM_F16 && view.rank() == 2 && view.extent(1) == 3 && view.strideOf(1) == 2));
  t.strides = nullptr;
  CHECK(tilegym::fromDLPack(t).strideOf(0) == 3);
}

TEST_CASE("every dtype goes to DLPack and comes back") {
  int64_t shape[] = {4};
  for (int dtype = TILEGYM_F64; dtype <= TILEGYM_BOOL; ++dtype) {
    DLTensor t;
    tilegym::TensorView view(memory(), TilegymDType(dtype), 1, shape);
    tilegym::toDLPack(view, 1, t);
    CHECK((t.device.device_type == kDLCUDA && t.device.device_id == 1 && t.dtype.lanes == 1));
    CHECK(tilegym::fromDLPack(t).dtype() == dtype);
  }
  DLTensor host;
  tilegym::toDLPack(tilegym::view(shape, {1}), tilegym::kHost, host);
  CHECK((host.device.device_type == kDLCPU && host.device.device_id == 0));
  CHECK_THROWS_WITH(tilegym::toDLPack(tilegym::TensorView(), 0, host),
                    "no DLPack tensor is a TensorView that stands for one left out");
}

TEST_CASE("DLPack tensors that no view can be are refused") {
  int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  DLTensor good{memory(), {kDLCUDA, 0}, 1, {2, 32, 1}, shape, nullptr, 0}, t = good;
  t.device.device_type = kDLCPU;
  CHECK_THROWS_WITH(tilegym::fromDLPack(t), "a DLPack tensor lies on a device of type 1, expected 2 (CUDA)");
  t = good;
  t.ndim = 9;
  CHECK_THROWS_WITH(tilegym::fromDLPack(t), "a DLPack tensor has rank 9, expected 0 .. 8");
  t = good;
  t.dtype.lanes = 4;
  CHECK_THROWS_WITH(tilegym::fromDLPack(t), "a DLPack tensor has elements of 4 lanes, expected 1");
  t = good;
  t.dtype = {5, 64, 1};
  CHECK_THROWS_WITH(tilegym::fromDLPack(t),
                    "a DLPack tensor has dtype code 5 of 64 bits, which is no dtype here");
}

TEST_CASE("a tensor is handed over with its memory, which the receiver's deleter gives back") {
  FakeCuda &fake = fakeCuda();
  void *stream = reinterpret_cast<void *>(size_t(64));
  int64_t shape[] = {2, 5};
  tilegym::Tensor tensor;
  REQUIRE(tilegym::Tensor::make(tensor, TILEGYM_BF16, 2, shape, stream));
  void *data = tensor.data();
  DLManagedTensor *managed = tilegym::toDLPack<DLManagedTensor>(std::move(tensor), 0);
  CHECK((managed->dl_tensor.data == data && managed->dl_tensor.shape[1] == 5 &&
         managed->dl_tensor.strides[0] == 5));
  CHECK(fake.count("cuMemFreeAsync") == 0);
  managed->deleter(managed);
  CHECK(fake.count("cuMemFreeAsync on a stream") == 1);
  REQUIRE(tilegym::Tensor::make(tensor, TILEGYM_F32, 2, shape, stream));
  auto *versioned = tilegym::toDLPack<DLManagedTensorVersioned>(std::move(tensor), 0);
  CHECK((versioned->version.major == 1 && versioned->flags == 0 && versioned->dl_tensor.ndim == 2));
  versioned->deleter(versioned);
  CHECK(fake.allocated.empty());
  CHECK_THROWS(tilegym::toDLPack<DLManagedTensor>(tilegym::Tensor(), 0));
}

TEST_CASE("views of spans hold as many elements as their shape says") {
  std::vector<float> memory(6);
  std::span<float> span(memory);
  CHECK(tilegym::view(span).extent(0) == 6);
  CHECK(tilegym::view(span, {2, 3}).strideOf(0) == 3);
  CHECK_THROWS_WITH(tilegym::view(span, {2, 4}), "a TensorView of 8 elements over a span of 6");
  std::vector<int64_t> shape = {3, 2}, strides = {1, 3}, one = {1};
  tilegym::TensorView turned = tilegym::view(memory.data(), std::span<const int64_t>(shape), strides);
  CHECK((turned.extent(0) == 3 && turned.strideOf(1) == 3 && turned.dtype() == TILEGYM_F32));
  CHECK_THROWS_WITH(tilegym::view(memory.data(), std::span<const int64_t>(shape), one),
                    "a TensorView has 2 extents but 1 strides");
}

TEST_CASE("dtypes of C++ types") {
  using tilegym::dtypeOf;
  CHECK((dtypeOf<double>() == TILEGYM_F64 && dtypeOf<const float>() == TILEGYM_F32 &&
         dtypeOf<bool>() == TILEGYM_BOOL));
  CHECK((dtypeOf<int8_t>() == TILEGYM_I8 && dtypeOf<int16_t>() == TILEGYM_I16 &&
         dtypeOf<int32_t>() == TILEGYM_I32));
  CHECK((dtypeOf<int64_t>() == TILEGYM_I64 && dtypeOf<uint8_t>() == TILEGYM_U8 &&
         dtypeOf<uint64_t>() == TILEGYM_U64));
}

TEST_CASE("a package from a file, and ops by name") {
  tilegym::Package package, other;
  CHECK_FALSE(tilegym::Package::openFile("no-such-file.tgk", package));
  std::string block = PackageBuilder().build({scaleOp()});
  std::vector<uint64_t> words(block.size() / 8 + 1);
  std::memcpy(words.data(), block.data(), block.size());
  REQUIRE(tilegym::Package::open(words.data(), block.size(), package));
  CHECK((package.size() == 1 && package.find("scale") == 0 && package.find("none") == 1 &&
         package.opName(0) == "scale"));
  other = std::move(package);
  CHECK((other.size() == 1 && package.size() == 0));
}
