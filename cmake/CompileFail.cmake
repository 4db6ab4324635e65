# monomorph_add_compile_fail_tests(<target> <file>...): programs that must not compile, and what the compiler must say.
# With the includes of <target>, each file compiles with -DNEGATIVE=0 (the positive control) and is rejected with
# -DNEGATIVE=1. The first thing that is said has the id of a rule. Its lines `// expect-error: <regex>` match the compiler's errors and
# are as many, so nothing cascades; `// expect-text: <regex>` matches anywhere in the output. `// expect-error(gcc):
# <regex>` and `(clang)` are for one compiler only. One test per file and compiler. What all files include is compiled
# once for each compiler, by the test compile_fail.prelude.<compiler>.
set(MONOMORPH_RUN_COMPILE_FAIL ${CMAKE_CURRENT_LIST_DIR}/run_compile_fail.cmake)
set(MONOMORPH_RUN_MEMBERS ${CMAKE_CURRENT_LIST_DIR}/run_members.cmake)
find_program(MONOMORPH_GCC NAMES g++ g++-14 g++-13 g++-12)
find_program(MONOMORPH_CLANG NAMES clang++ clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
find_program(MONOMORPH_NVCC NAMES nvcc HINTS /usr/local/cuda/bin)
mark_as_advanced(MONOMORPH_GCC MONOMORPH_CLANG MONOMORPH_NVCC)

# A compiler that is not there shows in the report of the tests, once.
function(monomorph_skip_compile_fail_tests LABEL)
  set(name compile_fail.all.${LABEL})
  if(NOT TEST ${name})
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo
      "skipped: ${LABEL} not found, so what it says of broken recipes is not tested; install it")
    set_tests_properties(${name} PROPERTIES LABELS compile_fail SKIP_REGULAR_EXPRESSION "^skipped: ")
  endif()
endfunction()

function(monomorph_add_compile_fail_tests TARGET)
  set(includes $<JOIN:$<TARGET_PROPERTY:${TARGET},INTERFACE_INCLUDE_DIRECTORIES>,|>)
  set(prelude ${CMAKE_CURRENT_BINARY_DIR}/prelude)
  file(CONFIGURE OUTPUT ${prelude}/prelude.hpp CONTENT "#include <monomorph/block/autograd_block.hpp>\n#include <monomorph/run.hpp>\n")
  foreach(compiler IN ITEMS GCC CLANG)
    string(TOLOWER ${compiler} label)
    if(NOT MONOMORPH_${compiler})
      monomorph_skip_compile_fail_tests(${label})
      continue()
    endif()
    set(harness ${CMAKE_COMMAND} -DCXX=${MONOMORPH_${compiler}} -DCOMPILER=${label} -DPRELUDE=${prelude}
      "-DINCLUDES=${includes}")
    if(NOT TEST compile_fail.prelude.${label})
      add_test(NAME compile_fail.prelude.${label} COMMAND ${harness} -P ${MONOMORPH_RUN_COMPILE_FAIL})
      set_tests_properties(compile_fail.prelude.${label} PROPERTIES LABELS compile_fail FIXTURES_SETUP prelude_${label})
    endif()
    foreach(case IN LISTS ARGN)
      cmake_path(ABSOLUTE_PATH case)
      cmake_path(GET case STEM name)
      add_test(NAME compile_fail.${name}.${label} COMMAND ${harness} -DCASE=${case} -P ${MONOMORPH_RUN_COMPILE_FAIL})
      set_tests_properties(compile_fail.${name}.${label} PROPERTIES LABELS compile_fail FIXTURES_REQUIRED prelude_${label})
    endforeach()
  endforeach()
endfunction()

# monomorph_add_nvcc_compile_fail_tests(<target> <file>...): the same with nvcc's front end, which takes seconds for a file.
function(monomorph_add_nvcc_compile_fail_tests TARGET)
  if(NOT MONOMORPH_NVCC)
    monomorph_skip_compile_fail_tests(nvcc)
    return()
  endif()
  foreach(case IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH case)
    cmake_path(GET case STEM name)
    add_test(NAME compile_fail.${name}.nvcc COMMAND ${CMAKE_COMMAND} -DCXX=${MONOMORPH_NVCC} -DCOMPILER=nvcc -DCASE=${case}
      "-DINCLUDES=$<JOIN:$<TARGET_PROPERTY:${TARGET},INTERFACE_INCLUDE_DIRECTORIES>,|>" -P ${MONOMORPH_RUN_COMPILE_FAIL})
    set_tests_properties(compile_fail.${name}.nvcc PROPERTIES LABELS compile_fail)
  endforeach()
endfunction()

# monomorph_add_broken_recipe_test(<header>): the same for recipes::<stem of the header>, which has the expectations,
# through the translation unit that monomorph_add_recipe generates for it.
function(monomorph_add_broken_recipe_test HEADER)
  cmake_path(ABSOLUTE_PATH HEADER)
  cmake_path(GET HEADER STEM NAME)
  set(instance ${CMAKE_CURRENT_BINARY_DIR}/broken_recipes/${NAME}_instance.cpp)
  set(PROGRAM ${NAME})
  set(PLACED OnDefault)
  set(DEVICE cpu)
  monomorph_write_instance(${instance})
  foreach(compiler IN ITEMS GCC CLANG)
    if(MONOMORPH_${compiler})
      string(TOLOWER ${compiler} label)
      add_test(NAME end_to_end.broken_recipe.${NAME}.${label} COMMAND ${CMAKE_COMMAND} -DCXX=${MONOMORPH_${compiler}}
        -DCOMPILER=${label} -DCASE=${instance} -DEXPECTATIONS=${HEADER}
        "-DINCLUDES=$<JOIN:$<TARGET_PROPERTY:monomorph_train,INTERFACE_INCLUDE_DIRECTORIES>,|>"
        "-DDEFINITIONS=$<JOIN:$<TARGET_PROPERTY:monomorph_train,INTERFACE_COMPILE_DEFINITIONS>,|>"
        -P ${MONOMORPH_RUN_COMPILE_FAIL})
      set_tests_properties(end_to_end.broken_recipe.${NAME}.${label} PROPERTIES LABELS end_to_end)
    endif()
  endforeach()
endfunction()

# monomorph_add_compile_fail_harness_test(<name> <file> <regex>): the harness must reject the file, and say why.
function(monomorph_add_compile_fail_harness_test NAME CASE REGEX)
  cmake_path(ABSOLUTE_PATH CASE)
  add_test(NAME compile_fail.harness.${NAME} COMMAND ${CMAKE_COMMAND} -DCXX=${CMAKE_CXX_COMPILER} -DCOMPILER=gcc
    -DCASE=${CASE} -DINCLUDES= -P ${MONOMORPH_RUN_COMPILE_FAIL})
  set_tests_properties(compile_fail.harness.${NAME} PROPERTIES LABELS compile_fail PASS_REGULAR_EXPRESSION "${REGEX}")
endfunction()

# monomorph_add_members_tests(<target> <header>...): what check_members.cmake says of recipes::<stem of the header>.
function(monomorph_add_members_tests TARGET)
  set(id_of_GCC GNU)
  set(id_of_CLANG Clang)
  foreach(compiler IN ITEMS GCC CLANG)
    if(MONOMORPH_${compiler})
      string(TOLOWER ${compiler} label)
      foreach(header IN LISTS ARGN)
        cmake_path(ABSOLUTE_PATH header)
        cmake_path(GET header STEM name)
        add_test(NAME compile_fail.members.${name}.${label} COMMAND ${CMAKE_COMMAND} -DCXX=${MONOMORPH_${compiler}}
          -DCOMPILER=${id_of_${compiler}} -DREADELF=${CMAKE_READELF} -DHEADER=${header}
          "-DINCLUDES=$<JOIN:$<TARGET_PROPERTY:${TARGET},INTERFACE_INCLUDE_DIRECTORIES>,|>"
          -DDIRECTORY=${CMAKE_CURRENT_BINARY_DIR}/${name}_${label} -P ${MONOMORPH_RUN_MEMBERS})
        set_tests_properties(compile_fail.members.${name}.${label} PROPERTIES LABELS compile_fail)
      endforeach()
    endif()
  endforeach()
endfunction()
