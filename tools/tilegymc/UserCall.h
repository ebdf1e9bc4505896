// SPDX-License-Identifier: MIT
// A call as the command line gives it: shapes, dims, dtypes, scalars and .npy files, completed to what the runners take.
#pragma once
#include "Specs.h"
#include "compiler/interpreter/Inputs.h"

namespace tilegym::cli {

struct UserCallOptions {
  std::vector<std::string> shapes; ///< "64,1000", "x=64,1000", "N=1000"
  std::vector<std::string> values; ///< "x=in.npy", "in/x.npy", "eps=1e-5"
  std::vector<std::string> dtypes; ///< "bf16", "T=bf16"
  std::vector<std::string> with;   ///< optional tensors to take part
  bool needData = true;            ///< else tensors stay empty: only shapes matter
};
void addUserCallOptions(CLI::App &command, UserCallOptions &options);

struct UserCall {
  sem::TestCall call;
  interp::Arguments inputs;
  sem::TestModel model; ///< what generators point into
};
/// Null after complaining.
std::unique_ptr<UserCall> makeUserCall(const sem::OpModel &op, const UserCallOptions &options);

/// "f32[64, 1000]".
std::string typeText(DType dtype, const std::vector<int64_t> &extents);

} // namespace tilegym::cli
