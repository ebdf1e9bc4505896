// SPDX-License-Identifier: MIT
// Host tensors, and the shadow's judgement of every pair of accesses.
#include "compiler/interpreter/Memory.h"
#include <catch2/catch.hpp>
#include <functional>

using namespace tilegym;
using namespace tilegym::interp;

namespace {
using N = std::vector<int64_t>;
using Accessor = int32_t (Shadow::*)(int64_t, int32_t);
} // namespace

TEST_CASE("the shadow knows which pairs of accesses race") {
  const std::pair<char, Accessor> kinds[] = {
      {'w', &Shadow::write}, {'r', &Shadow::read}, {'a', &Shadow::atomic}};
  for (auto [firstName, first] : kinds)
    for (auto [secondName, second] : kinds) {
      const bool races = firstName != secondName || firstName == 'w';
      Shadow shadow(2, true);
      shadow.beginLaunch(true);
      INFO(firstName << " by block 3, then " << secondName);
      CHECK((shadow.*first)(0, 3) == Shadow::nobody);
      CHECK((shadow.*second)(1, 4) == Shadow::nobody); // another element
      CHECK((shadow.*second)(0, 3) == Shadow::nobody); // the same block
      CHECK((shadow.*second)(0, 4) == (races ? 3 : Shadow::nobody));
      shadow.beginLaunch(true);
      CHECK((shadow.*second)(0, 4) == Shadow::nobody); // another launch
    }
  Shadow shared(1, true);
  shared.beginLaunch(false);
  CHECK(shared.read(0, 0) == Shadow::nobody);
  CHECK(shared.read(0, 1) == Shadow::nobody);
  CHECK(shared.write(0, 0) == Shadow::several);
}

TEST_CASE("what was written stays written from launch to launch") {
  Shadow shadow(2, false);
  shadow.beginLaunch(false);
  shadow.write(1, 0);
  shadow.beginLaunch(false);
  CHECK_FALSE(shadow.isWritten(0));
  CHECK(shadow.isWritten(1));
}

TEST_CASE("positions and copies of strided tensors") {
  HostTensor whole = HostTensor::fromInts(DType::I32, {2, 3}, {0, 1, 2, 3, 4, 5});
  CHECK(whole.isContiguous());
  HostTensor turned = whole;
  turned.shape = {3, 2};
  turned.strides = {-1, 3};
  turned.offset = 2;
  CHECK_FALSE(turned.isContiguous());
  CHECK(turned.isInsideBuffer());
  CHECK(turned.toDoubles() == std::vector<double>{2, 5, 1, 4, 0, 3});
  CHECK(turned.position(3) == 4);
  HostTensor copy = turned.clone();
  CHECK(copy.isContiguous());
  CHECK(copy.toDoubles() == turned.toDoubles());
  HostTensor same = turned.cloneWithStrides();
  same.set(0, 9);
  CHECK(same.strides == turned.strides);
  CHECK(whole.asInt(2) == 2);
  CHECK(same.asInt(0) == 9);
  turned.offset = 1;
  CHECK_FALSE(turned.isInsideBuffer());
  HostTensor none = HostTensor::allocate(DType::F32, {0, 4});
  CHECK(none.isInsideBuffer());
  CHECK(none.clone().numElements() == 0);
}

TEST_CASE("elements by dtype") {
  HostTensor wide = HostTensor::allocate(DType::U64, {1});
  wide.setInt(0, -1);
  CHECK(wide.asDouble(0) == 18446744073709551616.0);
  CHECK(wide.asInt(0) == -1);
  HostTensor half = HostTensor::fromDoubles(DType::F16, {2}, {2049, 1e6});
  CHECK(half.bits(0) == 0x6800);
  CHECK(half.asDouble(0) == 2048);
  CHECK(half.bits(1) == 0x7c00);
  half.setBits(0, 0x3c00);
  CHECK(half.asDouble(0) == 1);
}

TEST_CASE("borrowed memory is seen as it is") {
  float data[4] = {1, 2, 3, 4};
  HostTensor tensor;
  tensor.shape = {2};
  tensor.strides = {2};
  tensor.offset = 1;
  tensor.buffer = HostBuffer::borrow(data, sizeof data);
  CHECK(tensor.toDoubles() == std::vector<double>{2, 4});
  tensor.set(1, 7);
  CHECK(data[3] == 7);
}

TEST_CASE("a place in memory is named by its index in the tensor") {
  Memory memory;
  memory.tensor = HostTensor::allocate(DType::F32, {4, 5});
  CHECK(elementAt(memory, 13) == N{2, 3});
  memory.tensor.shape = {5, 4};
  memory.tensor.strides = {1, 5};
  CHECK(elementAt(memory, 13) == N{3, 2});
  memory.tensor.strides = {-1, 5};
  memory.tensor.offset = 4;
  CHECK(elementAt(memory, 13) == N{1, 2});
}
