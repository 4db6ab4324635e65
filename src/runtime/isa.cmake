# Included from the root. Compiles src/runtime/isa/*.cpp once per instruction set into monomorph_runtime; which of them
# runs is decided at start-up (src/runtime/machine/isa.hpp). Optimised in Debug builds too: what the linker may share between
# translation units (inline functions) must be inlined here, or a narrow processor could meet wide instructions.
file(GLOB isa_sources CONFIGURE_DEPENDS src/runtime/isa/*.cpp)
set(isa_options_generic)
set(isa_options_avx2 -mavx2 -mfma)
set(isa_options_avx512 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mprefer-vector-width=512)
set(isas generic)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  list(APPEND isas avx2 avx512)
endif()
foreach(isa IN LISTS isas)
  add_library(monomorph_runtime_${isa} OBJECT ${isa_sources})
  set_target_properties(monomorph_runtime_${isa} PROPERTIES UNITY_BUILD OFF)  # one kernel is optimised as if there were no other
  target_include_directories(monomorph_runtime_${isa} PRIVATE src)
  target_link_libraries(monomorph_runtime_${isa} PRIVATE monomorph::spec monomorph::dev_warnings)
  target_compile_definitions(monomorph_runtime_${isa} PRIVATE MONOMORPH_BELOW_FIREWALL MONOMORPH_ISA=${isa})
  # No -ffast-math: NaN and infinity must come through, and sums have one order.
  target_compile_options(monomorph_runtime_${isa} PRIVATE -O3 -fno-math-errno -fno-trapping-math -ffp-contract=fast
    -Wno-psabi $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed> ${isa_options_${isa}})
  target_sources(monomorph_runtime PRIVATE $<TARGET_OBJECTS:monomorph_runtime_${isa}>)
  if(MONOMORPH_TESTS AND NOT MONOMORPH_SANITIZE)
    add_test(NAME unit.runtime.isa_objects_share_no_code.${isa} COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DISA=${isa}
      "-DOBJECTS=$<JOIN:$<TARGET_OBJECTS:monomorph_runtime_${isa}>,$<SEMICOLON>>"
      -P ${CMAKE_CURRENT_LIST_DIR}/check_isa_objects.cmake)
    set_tests_properties(unit.runtime.isa_objects_share_no_code.${isa} PROPERTIES LABELS unit)
  endif()
endforeach()
