# Libraries that programs open when they first need them (src/core/module.hpp). In the build they lie in its folder, and in
# an installation in <libraries>/monomorph.
include(GNUInstallDirs)

# monomorph_add_module(<target> <name> <source>...): lib<name>.so
function(monomorph_add_module TARGET NAME)
  add_library(${TARGET} MODULE ${ARGN})
  target_include_directories(${TARGET} PRIVATE src)
  target_link_libraries(${TARGET} PRIVATE monomorph::dev_warnings)
  set_target_properties(${TARGET} PROPERTIES OUTPUT_NAME ${NAME} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  set_property(GLOBAL APPEND PROPERTY monomorph_modules ${TARGET})
endfunction()

# monomorph_opens_modules(<target>): a program, or a library of which programs are made, finds the modules, which are built
# with it. To be called after all modules were added.
function(monomorph_opens_modules TARGET)
  get_property(modules GLOBAL PROPERTY monomorph_modules)
  add_dependencies(${TARGET} ${modules})
  get_target_property(type ${TARGET} TYPE)
  if(type STREQUAL EXECUTABLE)
    cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_FULL_BINDIR} OUTPUT_VARIABLE to_libraries)
    set_target_properties(${TARGET} PROPERTIES
      BUILD_RPATH ${PROJECT_BINARY_DIR} INSTALL_RPATH "$ORIGIN/${to_libraries}/monomorph")
  else()
    target_link_options(${TARGET} INTERFACE
      "$<BUILD_INTERFACE:LINKER:-rpath,${PROJECT_BINARY_DIR}>"
      "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/monomorph>")
  endif()
endfunction()
