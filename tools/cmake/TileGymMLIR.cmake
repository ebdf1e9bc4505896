# SPDX-License-Identifier: MIT
# What the compiler part links and includes: the two big shared libraries, headers as SYSTEM, generated headers in the
# build folder; and the precompiled header that makes it build in minutes on two cores.
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(${PROJECT_SOURCE_DIR})  # TableGen reads the directory property
include_directories(SYSTEM ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS} ${PROJECT_BINARY_DIR})
add_library(tilegym_mlir INTERFACE)
target_include_directories(tilegym_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${PROJECT_BINARY_DIR})
target_link_libraries(tilegym_mlir INTERFACE tilegym_options MLIR LLVM)

# With clang, NVVMDialect.h alone costs 16 s in each file that includes it; precompiled once (20 s), such a file takes
# 2-5 s: that is what makes a cold build quick. g++'s precompiled headers are 1 GB and slower than none.
# To ccache the precompiled header is what its .sum says, not its bytes, which hold absolute paths: so a file that uses
# it hits from a clone in another folder too. The header itself is always compiled.
option(TILEGYM_PCH "Precompile MLIR's headers (clang only)" OFF)
if(TILEGYM_PCH AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  file(WRITE ${PROJECT_BINARY_DIR}/pch/pch.cpp "// SPDX-License-Identifier: MIT\n")
  add_library(tilegym_pch OBJECT ${PROJECT_BINARY_DIR}/pch/pch.cpp)
  target_link_libraries(tilegym_pch PRIVATE tilegym_mlir)
  set(headers ${PROJECT_SOURCE_DIR}/tools/cmake/MLIRHeaders.h)
  target_precompile_headers(tilegym_pch PRIVATE ${headers})
  set_target_properties(tilegym_pch PROPERTIES CXX_COMPILER_LAUNCHER "")
  target_compile_options(tilegym_mlir INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${headers})
  file(SHA256 ${headers} headers_hash)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/tilegym_pch.dir/cmake_pch.hxx.pch.sum CONTENT
       "${headers_hash} ${MLIR_VERSION} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}\n")
endif()

# tilegym_use_mlir(TARGET): links MLIR and uses the precompiled header, for targets that are no folder library
# (executables, tests). An executable's files are compiled as a library's are, or the header would not fit them.
function(tilegym_use_mlir target)
  target_link_libraries(${target} PRIVATE tilegym_mlir)
  if(TARGET tilegym_pch)
    target_precompile_headers(${target} REUSE_FROM tilegym_pch)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()

# tilegym_mlir_library(NAME [LINK libs...] [DEPENDS targets...]): tilegym_folder_library for a folder of the compiler
# part. DEPENDS names the TableGen targets whose headers must exist first.
function(tilegym_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  tilegym_folder_library(${name} LINK tilegym_mlir ${ARG_LINK})
  set_property(GLOBAL APPEND PROPERTY TILEGYM_MLIR_LIBRARIES ${name})
  get_target_property(type ${name} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    if(TARGET tilegym_pch)
      target_precompile_headers(${name} REUSE_FROM tilegym_pch)
    endif()
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
