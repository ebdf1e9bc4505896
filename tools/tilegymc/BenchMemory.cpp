// SPDX-License-Identifier: MIT
// Allocates, fills and reads the memory of a benchmark call.
#include "BenchMemory.h"
#include <algorithm>

namespace tilegym::cli {

bool BenchMemory::make(const Gpu &on, const sem::OpModel &of, const sem::TestCall &call,
                       const interp::Arguments &pattern, std::string &error) {
  gpu = &on;
  op = &of;
  blocks.resize(op->tensors.size());
  strides.resize(op->tensors.size());
  tensors.resize(op->tensors.size());
  scalars.resize(op->scalars.size());
  for (const sem::Argument &argument : op->arguments) {
    size_t id = size_t(argument.id);
    if (!argument.isTensor) {
      scalars[id] = scalarArgument(*op, call, id, pattern.scalars[id]);
      list.push_back(&scalars[id]);
    } else if (!call.bound.spec.present[id]) {
      list.push_back(nullptr);
    } else {
      if (!addTensor(call, id, error))
        return false;
      list.push_back(&tensors[id]);
    }
  }
  return fill(pattern, error);
}

bool BenchMemory::addTensor(const sem::TestCall &call, size_t id, std::string &error) {
  const interp::Dims &shape = call.bound.shapes[id][0];
  DType dtype = call.bound.spec.dtypes[size_t(op->tensors[id].typeVar)];
  size_t size = size_t(interp::numElements(shape)) * sizeInBytes(dtype);
  strides[id] = interp::contiguousStrides(shape);
  if (!blocks[id].allocate(*gpu, size, error))
    return false;
  tensors[id] = {reinterpret_cast<void *>(blocks[id].address()), shape.data(), strides[id].data(),
                 int32_t(shape.size()), int32_t(dtype)};
  return true;
}

bool BenchMemory::fill(const interp::Arguments &pattern, std::string &error) {
  runtime::CUresult result = runtime::kSuccess;
  for (size_t id = 0; id < blocks.size() && result == runtime::kSuccess; ++id) {
    size_t size = blocks[id].size();
    if (op->tensors[id].role == sem::Role::Output || !tensors[id].data || size == 0)
      continue;
    const interp::HostBuffer &values = *pattern.tensors[id][0].buffer;
    size_t done = std::min(values.size(), size);
    result = gpu->driver->memcpyHtoD(blocks[id].address(), values.data(), done);
    while (result == runtime::kSuccess && done > 0 && done < size) {
      size_t more = std::min(done, size - done);
      result = gpu->driver->memcpyDtoDAsync(blocks[id].address() + done, blocks[id].address(), more, nullptr);
      done += more;
    }
  }
  if (result != runtime::kSuccess)
    error = gpu->text("filling inputs on the GPU", result);
  return result == runtime::kSuccess;
}

size_t BenchMemory::bytes() const {
  size_t sum = 0;
  for (const DeviceBlock &block : blocks)
    sum += block.size();
  return sum;
}

bool BenchMemory::poison(std::byte byte, std::string &error) {
  for (size_t id = 0; id < blocks.size(); ++id) {
    if (op->tensors[id].role != sem::Role::Output || !tensors[id].data || blocks[id].size() == 0)
      continue;
    if (runtime::CUresult result =
            gpu->driver->memsetD8Async(blocks[id].address(), uint8_t(byte), blocks[id].size(), nullptr);
        result != runtime::kSuccess) {
      error = gpu->text("filling outputs on the GPU", result);
      return false;
    }
  }
  return true;
}

std::optional<std::vector<std::optional<interp::HostTensor>>>
BenchMemory::download(std::string &error) const {
  std::vector<std::optional<interp::HostTensor>> out(blocks.size());
  for (size_t id = 0; id < blocks.size(); ++id) {
    const TilegymTensor &t = tensors[id];
    if (op->tensors[id].role == sem::Role::Input || !t.data)
      continue;
    interp::HostTensor tensor;
    tensor.dtype = DType(t.dtype);
    tensor.shape.assign(t.shape, t.shape + t.rank);
    tensor.strides = strides[id];
    tensor.buffer = interp::HostBuffer::allocate(blocks[id].size());
    if (runtime::CUresult result =
            gpu->driver->memcpyDtoH(tensor.buffer->data(), blocks[id].address(), blocks[id].size());
        result != runtime::kSuccess) {
      error = gpu->text("copying from the GPU", result);
      return std::nullopt;
    }
    out[id] = std::move(tensor);
  }
  return out;
}

} // namespace tilegym::cli
