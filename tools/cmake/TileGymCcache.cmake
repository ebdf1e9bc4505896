# SPDX-License-Identifier: MIT
# ccache where it is installed and nobody chose a launcher. Paths under the source folder are hashed relative to it, so
# a clone in another folder hits the same cache; the sloppiness is what lets files that use the precompiled header hit.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()
find_program(TILEGYM_CCACHE ccache)
mark_as_advanced(TILEGYM_CCACHE)
if(TILEGYM_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TILEGYM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
