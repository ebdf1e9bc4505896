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
      if (!addTensor(call, pattern, id, error))
        return false;
      list.push_back(&tensors[id]);
    }
  }
  return true;
}

bool BenchMemory::addTensor(const sem::TestCall &call, const interp::Arguments &pattern, size_t id,
                            std::string &error) {
  const interp::Dims &shape = call.bound.shapes[id][0];
  DType dtype = call.bound.spec.dtypes[size_t(op->tensors[id].typeVar)];
  size_t size = size_t(interp::numElements(shape)) * sizeInBytes(dtype);
  strides[id] = interp::contiguousStrides(shape);
  if (!blocks[id].allocate(*gpu, size, error))
    return false;
  tensors[id] = {reinterpret_cast<void *>(blocks[id].address()), shape.data(), strides[id].data(),
                 int32_t(shape.size()), int32_t(dtype)};
  if (op->tensors[id].role == sem::Role::Output || size == 0)
    return true;
  const interp::HostBuffer &values = *pattern.tensors[id][0].buffer;
  size_t done = std::min(values.size(), size);
  runtime::CUresult result = gpu->driver->memcpyHtoD(blocks[id].address(), values.data(), done);
  while (result == runtime::kSuccess && done > 0 && done < size) {
    size_t more = std::min(done, size - done);
    result = gpu->driver->memcpyDtoDAsync(blocks[id].address() + done, blocks[id].address(), more, nullptr);
    done += more;
  }
  if (result != runtime::kSuccess)
    error = gpu->text("filling inputs on the GPU", result);
  return result == runtime::kSuccess;
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
