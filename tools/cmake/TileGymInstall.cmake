# SPDX-License-Identifier: MIT
# What `cmake --install` puts where: the tool, the runtime and the reference backend with their headers, the specs, and
# the package that find_package(TileGym) reads. Nothing installed names the build or the source folder, so the whole
# prefix can be moved.
include(CMakePackageConfigHelpers)
set(config_folder ${CMAKE_INSTALL_LIBDIR}/cmake/TileGym)

# The static reference backend is the interpreter, so the language part's libraries are installed with it.
set(exported tilegym_options TileGymRuntime TileGymRuntimeShared TileGymReference TileGymReferenceShared TileGymSyntax TileGymSemantics TileGymInterpreter)
set_target_properties(TileGymRuntime PROPERTIES EXPORT_NAME runtime)
set_target_properties(TileGymRuntimeShared PROPERTIES EXPORT_NAME runtime_shared)
set_target_properties(TileGymReferenceShared PROPERTIES EXPORT_NAME reference_shared)
set_target_properties(TileGymReference PROPERTIES EXPORT_NAME reference)
install(TARGETS ${exported} EXPORT TileGymTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

if(TARGET tilegymc)
  # libMLIR is outside the loader's path, where Debian puts it.
  if(TILEGYM_HAS_COMPILER)
    set_target_properties(tilegymc PROPERTIES INSTALL_RPATH ${LLVM_LIBRARY_DIRS})
  endif()
  install(TARGETS tilegymc EXPORT TileGymTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(TARGET tilegym_kernels)
  set_target_properties(tilegym_kernels PROPERTIES EXPORT_NAME kernels)
  get_target_property(header tilegym_kernels TILEGYM_HEADER)
  install(TARGETS tilegym_kernels EXPORT TileGymTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/specs DESTINATION ${CMAKE_INSTALL_DATADIR}/tilegym
        FILES_MATCHING PATTERN "*.tile")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels/tuned DESTINATION ${CMAKE_INSTALL_DATADIR}/tilegym/kernels
        FILES_MATCHING PATTERN "*.json")
install(FILES ${PROJECT_SOURCE_DIR}/tools/oracle.py ${PROJECT_SOURCE_DIR}/tools/peers.py ${PROJECT_SOURCE_DIR}/tools/peers_triton.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tilegym)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

install(EXPORT TileGymTargets NAMESPACE TileGym:: DESTINATION ${config_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TileGymConfig.cmake.in ${PROJECT_BINARY_DIR}/TileGymConfig.cmake
                              INSTALL_DESTINATION ${config_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TileGymConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TileGymConfig.cmake ${PROJECT_BINARY_DIR}/TileGymConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/TileGymAddKernels.cmake DESTINATION ${config_folder})

# pkg-config: tilegym (static), tilegym-shared, tilegym-reference. Their prefix is where the files lie.
file(RELATIVE_PATH TILEGYM_PC_PREFIX ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
foreach(module tilegym tilegym-shared tilegym-reference)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${module}.pc.in ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# `cpack` in the build folder makes tilegym_VERSION_ARCH.deb of all this.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tilegym)
set(CPACK_PACKAGE_VENDOR TileGym)
set(CPACK_PACKAGE_CONTACT "The TileGym developers <tilegym@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Ahead-of-time GPU kernels from tile specs: compiler, runtime, reference backend")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libcuda1, cmake, pkg-config")
include(CPack)
