# monomorph_add_device(<name> TYPE <type> [HEADER <header>] [LIBRARIES <target>...]): makes a device known by a name, which
# DEVICES of monomorph_add_recipe() and the variable MONOMORPH_DEVICE may give. <type> is the policy, <header> the file that
# has it and its kernels, which monomorph/run.hpp does not, and <target> what programs on this device link besides.
function(monomorph_add_device NAME)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TYPE;HEADER" "LIBRARIES")
  if(NOT arg_TYPE OR arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    list(JOIN ARGN " " given)
    message(FATAL_ERROR "[SETUP-04] monomorph_add_device(${NAME}) must be written "
      "monomorph_add_device(<name> TYPE <type> [HEADER <header>] [LIBRARIES <target>...]), and has after the name: ${given}")
  endif()
  set(device monomorph::device_${NAME})
  if(TARGET ${device})
    get_target_property(known ${device} monomorph_given)
    if(NOT known STREQUAL "${ARGN}")
      list(JOIN known " " known)
      message(FATAL_ERROR "[SETUP-16] monomorph_add_device(${NAME}): ${NAME} is another device already, with ${known}; give "
        "this one another name")
    endif()
    return()  # a project may find Monomorph in several of its folders
  endif()
  set(include "")
  if(arg_HEADER)
    monomorph_find_header("monomorph_add_device(${NAME})" arg_HEADER)
    set(include "#include \"${arg_HEADER}\"")
  endif()
  add_library(${device} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${device} PROPERTIES monomorph_type "${arg_TYPE}" monomorph_given "${ARGN}" monomorph_include "${include}")
  target_link_libraries(${device} INTERFACE ${arg_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY monomorph_devices ${NAME})
endfunction()

# Makes the path of a header that CALL was given absolute.
function(monomorph_find_header CALL PATH)
  set(header ${${PATH}})
  cmake_path(ABSOLUTE_PATH header)
  if(NOT EXISTS ${header})
    message(FATAL_ERROR "[SETUP-05] ${CALL}: no file ${header}")
  endif()
  set(${PATH} ${header} PARENT_SCOPE)
endfunction()

function(monomorph_check_device CALL DEVICE)
  if(NOT TARGET monomorph::device_${DEVICE})
    get_property(known GLOBAL PROPERTY monomorph_devices)
    list(JOIN known ", " known)
    message(FATAL_ERROR "[SETUP-15] ${CALL}: there is no device ${DEVICE} in this build of Monomorph, but there is: ${known}; "
      "change DEVICES or MONOMORPH_DEVICE, or make ${DEVICE} known before, with monomorph_add_device()")
  endif()
endfunction()

monomorph_add_device(cpu TYPE monomorph::device::Cpu)
