# find_package(monomorph), against an installation or, with -Dmonomorph_DIR=<build folder>, against the build tree.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/monomorph)
set(libraries spec core data files runtime model train)

foreach(library IN LISTS libraries)
  set_target_properties(monomorph_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS monomorph_${library} EXPORT monomorph ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS)
endforeach()
install(EXPORT monomorph FILE monomorphTargets.cmake NAMESPACE monomorph:: DESTINATION ${package_dir})
export(EXPORT monomorph FILE ${PROJECT_BINARY_DIR}/monomorphTargets.cmake NAMESPACE monomorph::)

# LibTorch comes along, so that the installation needs neither this folder nor .deps/, and may be moved. It is laid out
# as in the wheel, whose libraries find each other by that.
option(MONOMORPH_INSTALL_LIBTORCH "Install LibTorch (0.5 GB), too; if not, the installation uses it where it is" ON)
set(site_dir ${CMAKE_INSTALL_LIBDIR}/monomorph)
if(MONOMORPH_INSTALL_LIBTORCH)
  install(DIRECTORY ${torch_include} DESTINATION ${site_dir}/torch MESSAGE_NEVER)
  # What libtorch_cpu.so loads.
  install(DIRECTORY ${torch_lib}/ DESTINATION ${site_dir}/torch/lib MESSAGE_NEVER
    FILES_MATCHING PATTERN libtorch_cpu.so PATTERN libc10.so PATTERN libgomp* PATTERN libshm* EXCLUDE)
  install(DIRECTORY ${torch_site}/nvidia/cu13/lib/ DESTINATION ${site_dir}/nvidia/cu13/lib OPTIONAL MESSAGE_NEVER
    FILES_MATCHING PATTERN libcudart.so* PATTERN libcupti.so*)
  set(installed_torch "\${CMAKE_CURRENT_LIST_DIR}/../../monomorph/torch")
  set_target_properties(monomorph_libtorch PROPERTIES INSTALL_RPATH "$ORIGIN/torch/lib")
else()
  set(installed_torch ${MONOMORPH_TORCH_DIR})
  set_target_properties(monomorph_libtorch PROPERTIES INSTALL_RPATH ${torch_lib})
endif()
install(TARGETS monomorph_libtorch LIBRARY DESTINATION ${site_dir})

if(TARGET monomorph::parquet)  # Arrow comes along, too
  set_target_properties(monomorph_parquet_module PROPERTIES INSTALL_RPATH "$ORIGIN/arrow")
  install(TARGETS monomorph_parquet_module LIBRARY DESTINATION ${site_dir})
  install(FILES ${arrow_libraries} DESTINATION ${site_dir}/arrow)
endif()

# monomorph_configure_config(<file> <LibTorch> <folder of the functions>)
function(monomorph_configure_config FILE torch_dir functions)
  configure_file(cmake/monomorphConfig.cmake.in ${PROJECT_BINARY_DIR}/${FILE} @ONLY)
endfunction()
monomorph_configure_config(monomorphConfig.cmake ${MONOMORPH_TORCH_DIR} ${PROJECT_SOURCE_DIR}/cmake)
monomorph_configure_config(install/monomorphConfig.cmake ${installed_torch} "\${CMAKE_CURRENT_LIST_DIR}")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/monomorphConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/monomorphConfig.cmake ${PROJECT_BINARY_DIR}/monomorphConfigVersion.cmake
  cmake/MonomorphDependencies.cmake cmake/AddRecipe.cmake cmake/Devices.cmake cmake/check_members.cmake cmake/recipe_instance.cpp.in cmake/recipe_main.cpp.in
  DESTINATION ${package_dir})
