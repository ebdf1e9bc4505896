# SPDX-License-Identifier: MIT
# tilegym_add_kernels(NAME [SHARED] SPECS spec... ARCHS arch... [DTYPES dtype...] [CONST name=value...] [OPTIONS option...])
#
# Compiles specs into a kernel package when the project is built, and makes a library target NAME of it, static or SHARED:
# linking NAME brings the kernels, the header NAME.h and TileGym's runtime (a shared one for SHARED, so that a program of
# several such libraries has it once); NAME's property TILEGYM_HEADER is that header's place. SPECS are .tile files,
# relative to the current folder. Editing a spec, or a library file it uses, compiles that spec again and takes the
# others' kernels from tilegymc's cache; what includes NAME.h is compiled again if the interface changed. A new tilegymc
# compiles everything.
function(tilegym_add_kernels name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "SHARED" "" "SPECS;ARCHS;DTYPES;CONST;OPTIONS")
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tilegym_add_kernels: unexpected ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_SPECS OR NOT ARG_ARCHS)
    message(FATAL_ERROR "tilegym_add_kernels(${name}): give SPECS (.tile files) and ARCHS (such as sm_80 sm_90a)")
  endif()
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "tilegym_add_kernels(${name}): the name is the prefix of C functions, so letters, digits and _ only")
  endif()
  if(DEFINED TileGym_HAS_COMPILER AND NOT TileGym_HAS_COMPILER)
    message(FATAL_ERROR "tilegym_add_kernels(${name}): the installed tilegymc was built without LLVM and cannot compile; "
                        "install one from a build that found MLIR 22")
  endif()
  set(specs)
  foreach(spec IN LISTS ARG_SPECS)
    get_filename_component(spec ${spec} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    if(NOT EXISTS ${spec})
      message(FATAL_ERROR "tilegym_add_kernels(${name}): no spec ${spec}")
    endif()
    list(APPEND specs ${spec})
  endforeach()
  set(options ${ARG_OPTIONS})
  list(JOIN ARG_ARCHS "," archs)
  if(ARG_DTYPES)
    list(JOIN ARG_DTYPES "," dtypes)
    list(APPEND options --dtypes ${dtypes})
  endif()
  foreach(const IN LISTS ARG_CONST)
    list(APPEND options --const ${const})
  endforeach()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.kernels)
  # The header is written only where it changes, so it is no OUTPUT: Make would take it for out of date for ever.
  add_custom_command(
    OUTPUT ${folder}/${name}.o
    BYPRODUCTS ${folder}/${name}.h
    COMMAND TileGym::tilegymc compile ${specs} --arch ${archs} --name ${name} ${options} -o ${folder}
            --depfile ${folder}/${name}.d
    DEPENDS ${specs} TileGym::tilegymc
    DEPFILE ${folder}/${name}.d
    COMMENT "Compiling kernels ${name} for ${archs}"
    VERBATIM)
  set(type STATIC)
  set(runtime TileGym::runtime)
  if(ARG_SHARED)
    set(type SHARED)
    set(runtime TileGym::runtime_shared)
  endif()
  add_library(${name} ${type} ${folder}/${name}.o)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX TILEGYM_HEADER ${folder}/${name}.h)
  set_source_files_properties(${folder}/${name}.o PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${folder}>)
  target_link_libraries(${name} PUBLIC ${runtime})
endfunction()
