# monomorph::catch2: Catch2 with a main, of either major version. Tests include "support/catch.hpp".
find_package(Catch2 QUIET)
if(NOT Catch2_FOUND)
  message(FATAL_ERROR "[SETUP-03] Catch2 not found: install the package catch2 (apt-get install catch2), or run "
    "./run-tests, which installs all that is missing, or give -DMONOMORPH_TESTS=OFF")
endif()
if(Catch2_VERSION VERSION_LESS 3)
  add_library(monomorph_catch_main STATIC ${CMAKE_CURRENT_LIST_DIR}/../tests/support/catch_main.cpp)
  target_link_libraries(monomorph_catch_main PUBLIC Catch2::Catch2)
  target_compile_options(monomorph_catch_main PRIVATE -O0)
  add_library(monomorph::catch2 ALIAS monomorph_catch_main)
else()
  add_library(monomorph::catch2 ALIAS Catch2::Catch2WithMain)
endif()
include(Catch)

# monomorph_discover_tests(<target> <prefix> <label> [<property> <value>]...): each test case of a Catch2 program is one
# test of ctest. Tests share the machine, so OpenMP threads must sleep, not spin, while they wait. A test of a unit that
# compares nothing fails; of the others not all have been looked at yet.
function(monomorph_discover_tests TARGET PREFIX LABEL)
  set(strict)
  if(LABEL STREQUAL unit)
    set(strict EXTRA_ARGS --warn NoAssertions)
  endif()
  catch_discover_tests(${TARGET} TEST_PREFIX ${PREFIX} ${strict}
    PROPERTIES LABELS ${LABEL} ENVIRONMENT "OMP_WAIT_POLICY=passive" SKIP_REGULAR_EXPRESSION "this-test-case-is-skipped: " ${ARGN})
endfunction()
