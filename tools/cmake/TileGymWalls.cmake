# SPDX-License-Identifier: MIT
# The walls between the parts, by what their targets link: configuring fails where one is broken. (What their files
# include is the lint tests/lint/walls.py.) Each wall lists what a folder's targets may reach, directly or through
# others; what is not listed is refused, so that a new dependency is a decision made here.

set(TILEGYM_LANGUAGE_FOLDERS compiler/syntax compiler/semantics compiler/interpreter compiler/layout)
set(TILEGYM_BASE_LIBRARIES tilegym_options Threads::Threads dl)

# _tilegym_folder_targets(OUT FOLDERS...): the targets made in these folders of the project, where they exist.
function(_tilegym_folder_targets out)
  set(found)
  foreach(folder IN LISTS ARGN)
    if(EXISTS ${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt)
      get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} PROPERTY BUILDSYSTEM_TARGETS)
      list(APPEND found ${targets})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# _tilegym_reach(OUT TARGET): all that TARGET links, through every target on the way.
function(_tilegym_reach out target)
  set(reached)
  set(pending ${target})
  while(pending)
    list(POP_FRONT pending item)
    if(NOT TARGET ${item})
      continue()
    endif()
    get_target_property(aliased ${item} ALIASED_TARGET)
    if(aliased)
      set(item ${aliased})
    endif()
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(links ${item} ${property})
      if(links)
        foreach(link IN LISTS links)
          string(REGEX REPLACE "^\\$<(LINK_ONLY|BUILD_INTERFACE|INSTALL_INTERFACE):(.*)>$" "\\2" link "${link}")
          if(link AND NOT link MATCHES "^::@" AND NOT link IN_LIST reached)
            list(APPEND reached ${link})
            list(APPEND pending ${link})
          endif()
        endforeach()
      endif()
    endforeach()
  endwhile()
  set(${out} ${reached} PARENT_SCOPE)
endfunction()

# _tilegym_check_wall(FOLDERS folders... ALLOWED libraries... REASON text)
function(_tilegym_check_wall)
  cmake_parse_arguments(ARG "" "REASON" "FOLDERS;ALLOWED" ${ARGN})
  _tilegym_folder_targets(targets ${ARG_FOLDERS})
  foreach(target IN LISTS targets)
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "UTILITY")
      continue()
    endif()
    _tilegym_reach(reached ${target})
    foreach(library IN LISTS reached)
      if(NOT library IN_LIST ARG_ALLOWED AND NOT library IN_LIST targets)
        message(FATAL_ERROR "${target} links ${library}: ${ARG_REASON}")
      endif()
    endforeach()
  endforeach()
endfunction()

function(tilegym_check_walls)
  _tilegym_folder_targets(language ${TILEGYM_LANGUAGE_FOLDERS})
  _tilegym_folder_targets(runtime runtime runtime/src runtime/include)
  _tilegym_check_wall(FOLDERS ${TILEGYM_LANGUAGE_FOLDERS} ALLOWED ${TILEGYM_BASE_LIBRARIES}
                      REASON "the language part needs the standard library only")
  _tilegym_check_wall(FOLDERS compiler/layout ALLOWED tilegym_options
                      REASON "the layout library needs the standard library only")
  _tilegym_check_wall(FOLDERS compiler/simulator
                      ALLOWED ${TILEGYM_BASE_LIBRARIES} ${language} Boost::context Boost::headers Boost::boost
                      REASON "the simulated machine needs the language part, the standard library and Boost.Context only")
  _tilegym_check_wall(FOLDERS runtime runtime/src runtime/include ALLOWED ${TILEGYM_BASE_LIBRARIES}
                      REASON "the runtime ships without LLVM, the compiler and the language, and opens the driver itself")
  _tilegym_check_wall(FOLDERS runtime/reference ALLOWED ${TILEGYM_BASE_LIBRARIES} ${language} ${runtime}
                      REASON "the reference backend is the interpreter behind the runtime's interface")
  _tilegym_check_wall(FOLDERS runtime/python ALLOWED ${TILEGYM_BASE_LIBRARIES} ${language} ${runtime} TileGymReference
                      REASON "the Python package is the runtime's C interface for Python, and knows no framework's")
endfunction()
cmake_language(DEFER DIRECTORY ${PROJECT_SOURCE_DIR} CALL tilegym_check_walls)
