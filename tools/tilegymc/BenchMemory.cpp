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
      if (!addTensors(call, id, error))
        return false;
      list.push_back(op->tensors[id].isList ? static_cast<const void *>(tensors[id].argument())
                                            : tensors[id].tensors.data());
    }
  }
  return fill(pattern, error);
}

bool BenchMemory::addTensors(const sem::TestCall &call, size_t id, std::string &error) {
  DType dtype = call.bound.spec.dtypes[size_t(op->tensors[id].typeVar)];
  const std::vector<interp::Dims> &shapes = call.bound.shapes[id];
  blocks[id].resize(shapes.size());
  for (const interp::Dims &shape : shapes)
    strides[id].push_back(interp::contiguousStrides(shape));
  for (size_t i = 0; i < shapes.size(); ++i) {
    size_t size = size_t(interp::numElements(shapes[i])) * sizeInBytes(dtype);
    if (!blocks[id][i].allocate(*gpu, size, error))
      return false;
    tensors[id].tensors.push_back({reinterpret_cast<void *>(blocks[id][i].address()), shapes[i].data(),
                                   strides[id][i].data(), int32_t(shapes[i].size()), int32_t(dtype)});
  }
  return true;
}

/// Repeats what there is of the values.
runtime::CUresult BenchMemory::fillBlock(const DeviceBlock &block, const interp::HostBuffer &values) const {
  size_t size = block.size(), done = std::min(values.size(), size);
  if (size == 0)
    return runtime::kSuccess;
  runtime::CUresult result = gpu->driver->memcpyHtoD(block.address(), values.data(), done);
  while (result == runtime::kSuccess && done > 0 && done < size) {
    size_t more = std::min(done, size - done);
    result = gpu->driver->memcpyDtoDAsync(block.address() + done, block.address(), more, nullptr);
    done += more;
  }
  return result;
}

bool BenchMemory::fill(const interp::Arguments &pattern, std::string &error) {
  runtime::CUresult result = runtime::kSuccess;
  for (size_t id = 0; id < blocks.size(); ++id)
    for (size_t i = 0; i < blocks[id].size() && result == runtime::kSuccess; ++i)
      if (op->tensors[id].role != sem::Role::Output)
        result = fillBlock(blocks[id][i], *pattern.tensors[id][i].buffer);
  if (result != runtime::kSuccess)
    error = gpu->text("filling inputs on the GPU", result);
  return result == runtime::kSuccess;
}

size_t BenchMemory::bytes() const {
  size_t sum = 0;
  for (const std::vector<DeviceBlock> &ofTensor : blocks)
    for (const DeviceBlock &block : ofTensor)
      sum += block.size();
  return sum;
}

bool BenchMemory::poison(std::byte byte, std::string &error) {
  for (size_t id = 0; id < blocks.size(); ++id)
    for (const DeviceBlock &block : blocks[id]) {
      if (op->tensors[id].role != sem::Role::Output || block.size() == 0)
        continue;
      if (runtime::CUresult result =
              gpu->driver->memsetD8Async(block.address(), uint8_t(byte), block.size(), nullptr);
          result != runtime::kSuccess) {
        error = gpu->text("filling outputs on the GPU", result);
        return false;
      }
    }
  return true;
}

std::optional<std::vector<std::vector<interp::HostTensor>>> BenchMemory::download(std::string &error) const {
  std::vector<std::vector<interp::HostTensor>> out(blocks.size());
  for (size_t id = 0; id < blocks.size(); ++id)
    for (size_t i = 0; i < blocks[id].size() && op->tensors[id].role != sem::Role::Input; ++i) {
      const TilegymTensor &t = tensors[id].tensors[i];
      interp::HostTensor &tensor = out[id].emplace_back();
      tensor.dtype = DType(t.dtype);
      tensor.shape.assign(t.shape, t.shape + t.rank);
      tensor.strides = strides[id][i];
      tensor.buffer = interp::HostBuffer::allocate(blocks[id][i].size());
      if (blocks[id][i].size() == 0)
        continue;
      if (runtime::CUresult result =
              gpu->driver->memcpyDtoH(tensor.buffer->data(), blocks[id][i].address(), blocks[id][i].size());
          result != runtime::kSuccess) {
        error = gpu->text("copying from the GPU", result);
        return std::nullopt;
      }
    }
  return out;
}

} // namespace tilegym::cli
