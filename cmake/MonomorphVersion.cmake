# The version and, in a git checkout, the commit, compiled into one file of monomorph_train. A new commit configures
# again, as its number would otherwise be that of an earlier one.
set(monomorph_COMMIT "")
find_program(MONOMORPH_GIT git)
mark_as_advanced(MONOMORPH_GIT)
if(MONOMORPH_GIT)
  # Our own repository, and not one that this folder was copied into.
  execute_process(COMMAND ${MONOMORPH_GIT} rev-parse --show-toplevel --git-path logs/HEAD HEAD
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT failed AND answer MATCHES "^([^\n]*)\n([^\n]*)\n([0-9a-f]+)$")
    set(top ${CMAKE_MATCH_1})
    set(log ${CMAKE_MATCH_2})
    set(head ${CMAKE_MATCH_3})
    file(REAL_PATH ${PROJECT_SOURCE_DIR} source)
    cmake_path(ABSOLUTE_PATH log BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    if(top STREQUAL source)
      set(monomorph_COMMIT ${head})
      if(EXISTS ${log})  # it grows with every commit and checkout
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${log})
      endif()
    endif()
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cpp.in ${PROJECT_BINARY_DIR}/version.cpp @ONLY)
target_sources(monomorph_train PRIVATE ${PROJECT_BINARY_DIR}/version.cpp)
