# The rules in the headers, their entries in docs/rules.md and their negative tests must be of the same ids, once each.
# Which of them the sweeps break: tests/unit/rule/swept_rules_test.cpp.
# Takes SOURCE_DIR.
cmake_minimum_required(VERSION 3.25)

# ids_in(<variable> <regex> <file>...): the ids that the regex captures, sorted. A semicolon or a bracket would split or
# join a CMake list: the regex sees an exclamation mark for each.
function(ids_in RESULT REGEX)
  set(ids)
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    string(REGEX REPLACE "[][;]" "!" text "${text}")
    string(REGEX MATCHALL "${REGEX}" found "${text}")
    foreach(match IN LISTS found)
      string(REGEX MATCH "[A-Z]+-[0-9][0-9]" id "${match}")
      list(APPEND ids ${id})
    endforeach()
  endforeach()
  list(SORT ids)
  set(${RESULT} ${ids} PARENT_SCOPE)
endfunction()

# A policy may have rules of its own in its header. What is said while a program runs is no rule.
file(GLOB_RECURSE headers ${SOURCE_DIR}/include/monomorph/*.hpp)
list(FILTER headers EXCLUDE REGEX "/include/monomorph/(core|runtime|model|data|train)/")
foreach(header IN ITEMS core/hparams.hpp core/rule.hpp core/spec_fields.hpp train/commands/call_rules.hpp)
  list(APPEND headers ${SOURCE_DIR}/include/monomorph/${header})
endforeach()
file(GLOB cases ${SOURCE_DIR}/tests/compile_fail/*.cpp)
ids_in(ruled "\"![A-Z]+-[0-9][0-9]! " ${headers} ${SOURCE_DIR}/cmake/check_members.cmake)
list(FILTER ruled EXCLUDE REGEX "^SETUP")
ids_in(documented "\n### [A-Z]+-[0-9][0-9]" ${SOURCE_DIR}/docs/rules.md)
file(GLOB members ${SOURCE_DIR}/tests/compile_fail/members/*.hpp)
ids_in(tested "error: .!?[A-Z]+-[0-9][0-9]" ${cases} ${members} ${SOURCE_DIR}/cmake/run_members.cmake)
list(FILTER tested EXCLUDE REGEX "^(OWN|STRANGE)")  # rules of the tests' own, and of the example
list(REMOVE_DUPLICATES ruled)  # RECIPE-05 has a message for each member
list(REMOVE_DUPLICATES tested)

list(LENGTH ruled n_rules)
if(n_rules LESS 100)
  message(FATAL_ERROR "only ${n_rules} rules found in include/monomorph: ${ruled}")
endif()
foreach(other IN ITEMS documented tested)
  if(NOT ruled STREQUAL ${other})
    message(FATAL_ERROR "ids differ\nin include/monomorph: ${ruled}\n${other}: ${${other}}")
  endif()
endforeach()

# More than half of the rules are about fields or members together, which docs/rules.md marks: by a line that names two of
# them at least.
file(READ ${SOURCE_DIR}/docs/rules.md text)
string(REGEX REPLACE "[][;]" "!" text "${text}")
string(REGEX MATCHALL "\n- Compares: [^\n]*" comparing "${text}")
foreach(line IN LISTS comparing)
  if(NOT line MATCHES "`" OR NOT line MATCHES ", |the fields of ")
    message(FATAL_ERROR "it names no two things:${line}")
  endif()
endforeach()
list(LENGTH comparing n_comparing)
math(EXPR n_needed "${n_rules} / 2")
if(NOT n_comparing GREATER n_needed)
  message(FATAL_ERROR "${n_comparing} of ${n_rules} rules are marked as about fields or members together")
endif()

# Each message ends with the anchor of its own id.
foreach(header IN LISTS headers)
  file(READ ${header} text)
  string(REGEX REPLACE "[][;]" "!" text "${text}")
  string(REGEX MATCHALL "\"![A-Z]+-[0-9][0-9]!|docs/rules.md#[a-z]+-[0-9][0-9]" marks "${text}")
  while(marks)
    list(POP_FRONT marks id link)
    string(REGEX REPLACE "[!\"]" "" id "${id}")
    string(TOLOWER "docs/rules.md#${id}" wanted)
    if(NOT link STREQUAL wanted)
      message(FATAL_ERROR "${header}: the message of ${id} ends with ${link} and not ${wanted}")
    endif()
  endwhile()
endforeach()
