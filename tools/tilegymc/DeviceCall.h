// SPDX-License-Identifier: MIT
// The arguments of one call as the C interface takes them: tensors on the device, scalars in their dtypes.
#pragma once
#include "Gpu.h"
#include "PackageFile.h"
#include "compiler/interpreter/Inputs.h"

namespace tilegym::cli {

/// A list as the C interface takes it.
struct ListArgument {
  std::vector<TilegymTensor> tensors;
  const TilegymTensorList *argument() {
    list = {tensors.data(), tensors.size()};
    return &list;
  }

private:
  TilegymTensorList list{};
};

class DeviceCall {
public:
  /// `inPlace`: outputs that may share an input's memory do.
  DeviceCall(const Gpu &gpu, const sem::OpModel &op, const sem::TestCall &call,
             const interp::Arguments &inputs, bool inPlace = false)
      : gpu(gpu), op(op), call(call), inputs(inputs), inPlace(inPlace) {}

  /// Inputs and inouts as given; outputs in the same spread, full of `poison`. False, with `error` set, where memory lacks.
  bool upload(interp::Spread spread, uint64_t transposed, std::byte poison, std::string &error);
  /// In the order of the op's arguments.
  const std::vector<const void *> &arguments();
  /// The same with the outputs left out.
  std::vector<const void *> inputsOnly();

  /// What is in memory after the run, by tensor id. What must not have changed and did is said in `damages`.
  std::optional<std::vector<std::vector<interp::HostTensor>>> download(std::vector<std::string> &damages,
                                                                       std::string &error);

private:
  /// The tensor in whose memory this one lies.
  size_t homeOf(size_t id) const;

  const Gpu &gpu;
  const sem::OpModel &op;
  const sem::TestCall &call;
  const interp::Arguments &inputs;
  const bool inPlace;
  std::vector<std::vector<interp::HostTensor>>
      images; ///< what was uploaded, by tensor id: one, or those of a list
  std::vector<std::vector<DeviceTensor>> tensors;
  std::vector<ListArgument> lists; ///< by tensor id
  std::vector<uint64_t> scalars;
  std::vector<const void *> list;
};

/// Bits of a scalar argument as the C interface reads it: consts are i64, the others have their dtype.
uint64_t scalarArgument(const sem::OpModel &op, const sem::TestCall &call, size_t scalar,
                        const sem::Constant &value);

} // namespace tilegym::cli
