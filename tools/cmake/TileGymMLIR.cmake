# SPDX-License-Identifier: MIT
# What the compiler part links and includes: the two big shared libraries, headers as SYSTEM, generated headers in the build folder.
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} ${PROJECT_BINARY_DIR})
add_library(tilegym_mlir INTERFACE)
target_include_directories(tilegym_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${PROJECT_BINARY_DIR})
target_link_libraries(tilegym_mlir INTERFACE tilegym_options MLIR LLVM)
