// SPDX-License-Identifier: MIT
// Device memory of a whole benchmark call, filled by repetition: a generator's values at full size would take longer than the timing.
#pragma once
#include "DeviceCall.h"

namespace tilegym::cli {

class BenchMemory {
public:
  /// Inputs repeat the values of `pattern`, which may be a smaller call's.
  bool make(const Gpu &gpu, const sem::OpModel &op, const sem::TestCall &call,
            const interp::Arguments &pattern, std::string &error);
  /// Gives all inputs these values again: a kernel may have written to them.
  bool fill(const interp::Arguments &pattern, std::string &error);
  /// In the order of the op's arguments.
  const std::vector<const void *> &arguments() const { return list; }
  /// Where a tensor starts on the GPU, null for one left out; and the bytes of all of them.
  void *data(size_t id) const { return tensors[id].tensors.empty() ? nullptr : tensors[id].tensors[0].data; }
  size_t bytes() const;
  /// Fills every output with the byte.
  bool poison(std::byte byte, std::string &error);
  /// The outputs and inouts, by tensor id: one each, or those of a list.
  std::optional<std::vector<std::vector<interp::HostTensor>>> download(std::string &error) const;

private:
  bool addTensors(const sem::TestCall &call, size_t id, std::string &error);
  runtime::CUresult fillBlock(const DeviceBlock &block, const interp::HostBuffer &values) const;

  const Gpu *gpu = nullptr;
  const sem::OpModel *op = nullptr;
  std::vector<std::vector<DeviceBlock>> blocks; ///< by tensor id, as are the next two
  std::vector<std::vector<interp::Dims>> strides;
  std::vector<ListArgument> tensors; ///< of one tensor where it is no list
  std::vector<uint64_t> scalars;
  std::vector<const void *> list;
};

} // namespace tilegym::cli
