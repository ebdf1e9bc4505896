# SPDX-License-Identifier: MIT
# The few CMake functions every folder uses: a library from a folder's sources, with warnings on and its wall stated.

# Every part sees every folder; that a file includes only what its part may is for TileGymWalls and tests/lint/walls.py.
add_library(tilegym_options INTERFACE)
target_include_directories(tilegym_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                           $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/runtime/include>)
# g++ 12 sees overlap in every `"text" + string` (its bug 105651).
set(tilegym_warnings -Wall -Wextra -Wno-unused-parameter $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_compile_options(tilegym_options INTERFACE "$<BUILD_INTERFACE:${tilegym_warnings}>")

# tilegym_folder_library(NAME [LINK libs...]): a static library of every .cpp in the current folder (not below it).
function(tilegym_folder_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  if(sources)
    add_library(${name} STATIC ${sources})
    target_link_libraries(${name} PUBLIC tilegym_options ${ARG_LINK})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE tilegym_options ${ARG_LINK})
  endif()
endfunction()
