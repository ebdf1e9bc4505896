// SPDX-License-Identifier: MIT
// `test --save`: a case as files that other programs can read, such as tools/oracle.py: inputs, the reference's outputs, and those of compiled
// kernels as .npy, the rest as case.json.
#pragma once
#include "compiler/interpreter/CaseRunner.h"
#include <nlohmann/json.hpp>

namespace tilegym::cli {

/// One case in a folder of its own.
class CaseSaver : public interp::CaseObserver {
public:
  CaseSaver(const sem::OpModel &op, const sem::TestModel &model, std::string folder)
      : op(op), model(model), folder(std::move(folder)) {}
  void reference(const sem::TestCall &test, const interp::Arguments &inputs,
                 const std::vector<std::vector<interp::HostTensor>> &outputs) override;
  /// Of each backend that runs compiled code, the first outcome.
  void outcome(const std::string &backend, const interp::Outcome &outcome) override;
  /// Writes case.json, where there is a case. Returns what went wrong, else nothing.
  std::string finish();

private:
  std::vector<std::string> write(const std::string &prefix, size_t tensor,
                                 const std::vector<interp::HostTensor> &tensors);

  const sem::OpModel &op;
  const sem::TestModel &model;
  const std::string folder;
  nlohmann::ordered_json json;
  std::string error;
};

} // namespace tilegym::cli
