# find_package(monomorph), against an installation or, with -Dmonomorph_DIR=<build folder>, against the build tree.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/monomorph)
set(libraries spec core data runtime train)

foreach(library IN LISTS libraries)
  set_target_properties(monomorph_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS monomorph_${library} EXPORT monomorph ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS)
endforeach()
install(EXPORT monomorph FILE monomorphTargets.cmake NAMESPACE monomorph:: DESTINATION ${package_dir})
export(EXPORT monomorph FILE ${PROJECT_BINARY_DIR}/monomorphTargets.cmake NAMESPACE monomorph::)

set(functions ${PROJECT_SOURCE_DIR}/cmake)
configure_file(${functions}/monomorphConfig.cmake.in ${PROJECT_BINARY_DIR}/monomorphConfig.cmake @ONLY)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/monomorphConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set(functions "\${CMAKE_CURRENT_LIST_DIR}")
configure_file(cmake/monomorphConfig.cmake.in ${PROJECT_BINARY_DIR}/install/monomorphConfig.cmake @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/install/monomorphConfig.cmake ${PROJECT_BINARY_DIR}/monomorphConfigVersion.cmake
  cmake/MonomorphDependencies.cmake cmake/AddRecipe.cmake cmake/recipe_instance.cpp.in cmake/recipe_main.cpp.in
  DESTINATION ${package_dir})
