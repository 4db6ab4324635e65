# monomorph_add_recipe(<name> <header> [DEVICES <device>...]): the struct recipes::<name> of the header becomes a program,
# one for each device. The program on the default device, which MONOMORPH_DEVICE names, is <name>, on any other
# <name>_<device>. Without DEVICES there is one program, <name>, on the device that the recipe names, or else the default.
# Each is instantiated once, in the object library recipe_<program>; whoever else wants it links that and calls
# monomorph::recipe_entry::<program>(argc, argv). The header may have bodies of the recipe's own blocks, under
# #ifdef MONOMORPH_BELOW_FIREWALL.
# Before anything of a recipe is compiled, check_members.cmake refuses members that nothing reads.
include(${CMAKE_CURRENT_LIST_DIR}/Devices.cmake)
set(MONOMORPH_DEVICE cpu CACHE STRING "The device of recipes that name none")

function(monomorph_add_recipe NAME HEADER)
  set(call "monomorph_add_recipe(${NAME})")
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "DEVICES")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    list(JOIN ARGN " " given)
    message(FATAL_ERROR "[SETUP-04] ${call} must be written monomorph_add_recipe(<name> <header> [DEVICES <device>...]), "
      "and has after the header: ${given}")
  endif()
  monomorph_find_header("${call}" HEADER)
  if(NOT DEFINED arg_DEVICES)
    monomorph_add_recipe_on(${NAME} ${HEADER} ${NAME} OnDefault ${MONOMORPH_DEVICE})
    return()
  endif()
  list(REMOVE_DUPLICATES arg_DEVICES)
  foreach(device IN LISTS arg_DEVICES)
    set(program ${NAME})
    if(NOT device STREQUAL MONOMORPH_DEVICE)
      string(MAKE_C_IDENTIFIER ${NAME}_${device} program)
    endif()
    monomorph_add_recipe_on(${NAME} ${HEADER} ${program} On ${device})
  endforeach()
endfunction()

# One program of a recipe. PLACED is the template that puts a recipe on a device.
function(monomorph_add_recipe_on NAME HEADER PROGRAM PLACED DEVICE)
  monomorph_check_device("monomorph_add_recipe(${NAME})" ${DEVICE})
  monomorph_write_instance(${CMAKE_CURRENT_BINARY_DIR}/recipes/${PROGRAM}_instance.cpp)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/recipe_main.cpp.in recipes/${PROGRAM}_main.cpp @ONLY)
  add_library(recipe_${PROGRAM} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/recipes/${PROGRAM}_instance.cpp)
  target_link_libraries(recipe_${PROGRAM} PUBLIC monomorph::train monomorph::device_${DEVICE})
  # The fields of specs are listed by a macro, and g++ would say of each mistake in one how it was expanded, in 550 lines.
  target_compile_options(recipe_${PROGRAM} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-ftrack-macro-expansion=0>)
  monomorph_check_members(${NAME} ${HEADER} ${PROGRAM})
  add_executable(${PROGRAM} ${CMAKE_CURRENT_BINARY_DIR}/recipes/${PROGRAM}_main.cpp)
  target_link_libraries(${PROGRAM} PRIVATE recipe_${PROGRAM})
  # A file each: nothing else is in their libraries, and bench/compile_time takes the command of one.
  set_target_properties(recipe_${PROGRAM} ${PROGRAM} PROPERTIES UNITY_BUILD OFF)
endfunction()

# Writes FILE, which instantiates PROGRAM. Takes the arguments of monomorph_add_recipe_on, as variables.
function(monomorph_write_instance FILE)
  get_target_property(DEVICE_TYPE monomorph::device_${DEVICE} monomorph_type)
  get_target_property(INCLUDE_DEVICE monomorph::device_${DEVICE} monomorph_include)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/recipe_instance.cpp.in ${FILE} @ONLY)
endfunction()

function(monomorph_check_members NAME HEADER PROGRAM)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/recipes/${PROGRAM}_members)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  list(JOIN flags | flags)
  set(of recipe_${PROGRAM})
  add_custom_command(OUTPUT ${folder}/checked DEPENDS ${HEADER} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_members.cmake
    DEPFILE ${folder}/checked.d COMMENT "Checking members of ${NAME}" VERBATIM
    COMMAND ${CMAKE_COMMAND} -DCXX=${CMAKE_CXX_COMPILER} -DCOMPILER=${CMAKE_CXX_COMPILER_ID} -DREADELF=${CMAKE_READELF}
      -DFLAGS=${flags} "-DINCLUDES=$<JOIN:$<TARGET_PROPERTY:${of},INCLUDE_DIRECTORIES>,|>"
      "-DDEFINITIONS=$<JOIN:$<TARGET_PROPERTY:${of},COMPILE_DEFINITIONS>,|>" -DHEADER=${HEADER} -DRECIPE=recipes::${NAME}
      -DDIRECTORY=${folder} -DSTAMP=${folder}/checked -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_members.cmake)
  add_custom_target(members_${PROGRAM} DEPENDS ${folder}/checked)
  add_dependencies(recipe_${PROGRAM} members_${PROGRAM})
endfunction()
