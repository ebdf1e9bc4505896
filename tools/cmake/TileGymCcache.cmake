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
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${TILEGYM_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  # CMake would also pass -include with the absolute path of the header that is precompiled, in a form which ccache does
  # not make relative; the precompiled one already says it all.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
  endif()
endif()
