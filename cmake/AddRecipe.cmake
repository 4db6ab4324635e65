# monomorph_add_recipe(<name> <header>): the struct recipes::<name> of the header becomes a program.
# It is instantiated once, in the object library recipe_<name>; whoever else wants it links that and calls
# monomorph::recipe_entry::<name>(argc, argv). The header may have bodies of the recipe's own blocks, under
# #ifdef MONOMORPH_BELOW_FIREWALL.
# Before anything of a recipe is compiled, check_members.cmake refuses members that nothing reads.
function(monomorph_add_recipe NAME HEADER)
  if(ARGN)
    message(FATAL_ERROR "[SETUP-04] monomorph_add_recipe(${NAME}): unknown argument ${ARGN}; "
      "write monomorph_add_recipe(<name> <header>)")
  endif()
  cmake_path(ABSOLUTE_PATH HEADER)
  if(NOT EXISTS ${HEADER})
    message(FATAL_ERROR "[SETUP-05] monomorph_add_recipe(${NAME}): no file ${HEADER}")
  endif()
  foreach(part IN ITEMS instance main)
    configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/recipe_${part}.cpp.in recipes/${NAME}_${part}.cpp @ONLY)
  endforeach()
  add_library(recipe_${NAME} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/recipes/${NAME}_instance.cpp)
  target_link_libraries(recipe_${NAME} PUBLIC monomorph::train)
  monomorph_check_members(${NAME} ${HEADER})
  add_executable(${NAME} ${CMAKE_CURRENT_BINARY_DIR}/recipes/${NAME}_main.cpp)
  target_link_libraries(${NAME} PRIVATE recipe_${NAME})
  # A file each: nothing else is in their libraries, and bench/compile_time takes the command of one.
  set_target_properties(recipe_${NAME} ${NAME} PROPERTIES UNITY_BUILD OFF)
endfunction()

function(monomorph_check_members NAME HEADER)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/recipes/${NAME}_members)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  list(JOIN flags | flags)
  set(of recipe_${NAME})
  add_custom_command(OUTPUT ${folder}/checked DEPENDS ${HEADER} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_members.cmake
    DEPFILE ${folder}/checked.d COMMENT "Checking members of ${NAME}" VERBATIM
    COMMAND ${CMAKE_COMMAND} -DCXX=${CMAKE_CXX_COMPILER} -DCOMPILER=${CMAKE_CXX_COMPILER_ID} -DREADELF=${CMAKE_READELF}
      -DFLAGS=${flags} "-DINCLUDES=$<JOIN:$<TARGET_PROPERTY:${of},INCLUDE_DIRECTORIES>,|>"
      "-DDEFINITIONS=$<JOIN:$<TARGET_PROPERTY:${of},COMPILE_DEFINITIONS>,|>" -DHEADER=${HEADER} -DRECIPE=recipes::${NAME}
      -DDIRECTORY=${folder} -DSTAMP=${folder}/checked -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/check_members.cmake)
  add_custom_target(members_${NAME} DEPENDS ${folder}/checked)
  add_dependencies(recipe_${NAME} members_${NAME})
endfunction()
