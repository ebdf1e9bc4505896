// SPDX-License-Identifier: MIT
// Uploads, poisons and judges the memory around a call.
#include "DeviceCall.h"
#include <cstring>
#include <set>

namespace tilegym::cli {
uint64_t scalarArgument(const sem::OpModel &op, const sem::TestCall &call, size_t scalar,
                        const sem::Constant &value) {
  const sem::ScalarParam &param = op.scalars[scalar];
  if (param.isConst)
    return uint64_t(value.asInt());
  DType dtype = call.bound.spec.dtypes[size_t(param.typeVar)];
  interp::HostTensor cell = interp::HostTensor::allocate(dtype, {});
  if (isFloat(dtype))
    cell.set(0, value.asFloat());
  else
    cell.setInt(0, value.asInt());
  return cell.bits(0);
}

size_t DeviceCall::homeOf(size_t id) const {
  int64_t shared = inPlace ? op.tensors[id].aliasOf : -1;
  return shared >= 0 && call.bound.spec.present[size_t(shared)] ? size_t(shared) : id;
}

bool DeviceCall::upload(interp::Spread spread, uint64_t transposed, std::byte poison, std::string &error) {
  tensors.resize(op.tensors.size());
  images.assign(op.tensors.size(), {});
  for (size_t id = 0; id < op.tensors.size(); ++id) {
    if (!call.bound.spec.present[id] || homeOf(id) != id)
      continue;
    const sem::TensorParam &tensor = op.tensors[id];
    size_t count = call.bound.shapes[id].size();
    tensors[id].resize(count); // stays as it is: views point into it
    for (size_t i = 0; i < count; ++i) {
      interp::HostTensor image;
      if (tensor.role != sem::Role::Output) {
        const interp::HostTensor &given = inputs.tensors[id][i];
        image = transposed >> id & 1 ? interp::respread(given, interp::Spread::Transposed) : given;
      } else {
        interp::HostTensor dense = interp::HostTensor::allocate(
            call.bound.spec.dtypes[size_t(tensor.typeVar)], call.bound.shapes[id][i]);
        image = spread == interp::Spread::Dense ? dense : interp::respread(dense, spread);
        std::fill_n(image.buffer->data(), image.buffer->size(), poison);
      }
      if (!tensors[id][i].upload(gpu, image, error))
        return false;
      images[id].push_back(std::move(image));
    }
  }
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (call.bound.spec.present[id])
      images[id] = images[homeOf(id)];
  return true;
}

const std::vector<const void *> &DeviceCall::arguments() {
  scalars.assign(op.scalars.size(), 0);
  lists.assign(op.tensors.size(), {});
  list.clear();
  for (const sem::Argument &argument : op.arguments) {
    size_t id = size_t(argument.id);
    if (!argument.isTensor) {
      scalars[id] = scalarArgument(op, call, id, inputs.scalars[id]);
      list.push_back(&scalars[id]);
    } else if (op.tensors[id].isList) {
      for (DeviceTensor &tensor : tensors[homeOf(id)])
        lists[id].tensors.push_back(*tensor.view());
      list.push_back(lists[id].argument());
    } else {
      list.push_back(images[id].empty() ? nullptr : tensors[homeOf(id)][0].view());
    }
  }
  return list;
}

std::vector<const void *> DeviceCall::inputsOnly() {
  std::vector<const void *> given = arguments();
  for (size_t i = 0; i < given.size(); ++i)
    if (op.arguments[i].isTensor && op.tensors[size_t(op.arguments[i].id)].role == sem::Role::Output)
      given[i] = nullptr;
  return given;
}

std::optional<std::vector<std::vector<interp::HostTensor>>>
DeviceCall::download(std::vector<std::string> &damages, std::string &error) {
  std::vector<std::vector<interp::HostTensor>> out(op.tensors.size());
  std::set<size_t> shared;
  for (size_t id = 0; id < op.tensors.size(); ++id)
    if (!images[id].empty() && homeOf(id) != id)
      shared.insert(homeOf(id));
  for (size_t id = 0; id < op.tensors.size(); ++id)
    for (size_t i = 0; i < images[id].size(); ++i) {
      std::string damage;
      std::optional<interp::HostTensor> now = tensors[homeOf(id)][i].download(gpu, damage, error);
      if (!now)
        return std::nullopt;
      bool isInput = op.tensors[id].role == sem::Role::Input && !shared.count(id);
      if (int64_t byte = interp::firstChange(images[id][i], now->buffer->data(), isInput);
          damage.empty() && byte >= 0)
        damage = isInput ? "an input was written, at byte " + std::to_string(byte) + " of its memory"
                         : "byte " + std::to_string(byte) +
                               " of its memory was written, which is between its elements";
      std::string called = op.tensors[id].name + (op.tensors[id].isList ? "[" + std::to_string(i) + "]" : "");
      if (!damage.empty())
        damages.push_back("`" + called + "`: " + damage);
      out[id].push_back(std::move(*now));
    }
  return out;
}

} // namespace tilegym::cli
