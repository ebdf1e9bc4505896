// SPDX-License-Identifier: MIT
// NumPy's .npy files. bf16 and the f8 formats, which NumPy lacks, are raw elements as NumPy with ml_dtypes writes them: `<V2` for
// bf16 and `<V1` for f8; a reader who expects one of them also takes u16 or u8 of the same bits. `index` is written as i64.
#pragma once
#include "compiler/interpreter/HostTensor.h"
#include <optional>
#include <string>
#include <string_view>

namespace tilegym::interp {

/// The bytes of a .npy file, version 1.0, row-major whatever the tensor's strides.
std::string encodeNpy(const HostTensor &tensor);

/// A tensor from the bytes of a .npy file (versions 1 to 3, either byte order, row- or column-major). `expected` decides what raw
/// elements mean; other dtypes are taken as the file has them. Null, with `error` set, for anything malformed or of another dtype.
std::optional<HostTensor> decodeNpy(std::string_view bytes, std::optional<DType> expected,
                                    std::string &error);

bool writeNpy(const std::string &path, const HostTensor &tensor, std::string &error);
std::optional<HostTensor> readNpy(const std::string &path, std::optional<DType> expected, std::string &error);

} // namespace tilegym::interp
