# Compiler settings of our own build. A recipe outside this tree keeps its own and never includes this file.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)  # target all_verify_interface_header_sets: the proof of the torch firewall

find_program(MONOMORPH_CCACHE ccache)
find_program(MONOMORPH_MOLD mold)
mark_as_advanced(MONOMORPH_CCACHE MONOMORPH_MOLD)
if(MONOMORPH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without the sloppiness, what uses a precompiled header is not cached. With the base, builds of other presets have in
  # common what they compile alike. What a file includes the compiler itself says (DEPEND), so that none is preprocessed
  # before it is compiled, which took a twentieth of a build from nothing.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1 ${MONOMORPH_CCACHE})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${MONOMORPH_CCACHE})
endif()
if(MONOMORPH_MOLD)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fuse-ld=mold>)
endif()

# PRIVATE to our own targets. Imported, so that an exported static library may name it; the package defines an empty one.
add_library(monomorph::dev_warnings INTERFACE IMPORTED GLOBAL)
target_compile_options(monomorph::dev_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow
  -Wnon-virtual-dtor -Woverloaded-virtual $<$<BOOL:${MONOMORPH_WERROR}>:-Werror>>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # It sees overlapping copies in "text" + std::string where there are none (its PR 105651).
  target_compile_options(monomorph::dev_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(CMAKE_UNITY_BUILD)
  # What is private to a file looks like part of a header if others follow it, and hides what they name alike.
  # The preset ci, which compiles file by file, keeps both warnings.
  target_compile_options(monomorph::dev_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-shadow
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>>)
endif()

if(MONOMORPH_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(MONOMORPH_FUZZ)
  add_compile_options($<IF:$<BOOL:${MONOMORPH_FUZZ_OPTIMIZE}>,-O1,-O0> -gline-tables-only
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
