# Imported targets for what we build on, all as system includes. Read by our own build and by find_package(monomorph).
include_guard(GLOBAL)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH monomorph_parent)
set(MONOMORPH_TORCH_DIR "${monomorph_parent}/.deps/site/torch" CACHE PATH
  "The folder torch of the PyPI wheel (or an unpacked LibTorch): has include/ and lib/")

# Adds the imported interface target monomorph::<NAME>; needs the header, and the library where one is named.
function(monomorph_import NAME PACKAGE HEADER)
  find_path(MONOMORPH_${NAME}_INCLUDE ${HEADER})
  mark_as_advanced(MONOMORPH_${NAME}_INCLUDE)
  set(found ${MONOMORPH_${NAME}_INCLUDE})
  if(ARGN)
    find_library(MONOMORPH_${NAME}_LIBRARY ${ARGN})
    mark_as_advanced(MONOMORPH_${NAME}_LIBRARY)
    if(NOT MONOMORPH_${NAME}_LIBRARY)
      set(found)
    endif()
  endif()
  if(NOT found)
    message(FATAL_ERROR "[SETUP-01] ${HEADER} not found: install the package ${PACKAGE} (apt-get install ${PACKAGE}), "
      "or run ./run-tests, which installs all that is missing")
  endif()
  add_library(monomorph::${NAME} INTERFACE IMPORTED GLOBAL)
  target_include_directories(monomorph::${NAME} SYSTEM INTERFACE ${MONOMORPH_${NAME}_INCLUDE})
  if(ARGN)
    target_link_libraries(monomorph::${NAME} INTERFACE ${MONOMORPH_${NAME}_LIBRARY})
  endif()
endfunction()
monomorph_import(hana libboost-dev boost/hana.hpp)
monomorph_import(json nlohmann-json3-dev nlohmann/json.hpp)
monomorph_import(cli11 libcli11-dev CLI/CLI.hpp)
monomorph_import(xxhash libxxhash-dev xxhash.h xxhash)
monomorph_import(utf8proc libutf8proc-dev utf8proc.h utf8proc)
monomorph_import(pcre2 libpcre2-dev pcre2.h pcre2-8)
monomorph_import(sentencepiece libsentencepiece-dev sentencepiece_processor.h sentencepiece)
monomorph_import(simdjson libsimdjson-dev simdjson.h simdjson)

# What not everybody needs is optional: what decompresses inputs, and what speaks HTTP.
# monomorph_import_optional(<name> <package> <header> <library> <what is missing without it>): monomorph::<name> does
# nothing where there is none.
function(monomorph_import_optional NAME PACKAGE HEADER LIBRARY)
  string(TOUPPER ${NAME} upper)
  find_path(MONOMORPH_${NAME}_INCLUDE ${HEADER})
  find_library(MONOMORPH_${NAME}_LIBRARY ${LIBRARY})
  mark_as_advanced(MONOMORPH_${NAME}_INCLUDE MONOMORPH_${NAME}_LIBRARY)
  add_library(monomorph::${NAME} INTERFACE IMPORTED GLOBAL)
  if(MONOMORPH_${NAME}_INCLUDE AND MONOMORPH_${NAME}_LIBRARY)
    target_include_directories(monomorph::${NAME} SYSTEM INTERFACE ${MONOMORPH_${NAME}_INCLUDE})
    target_link_libraries(monomorph::${NAME} INTERFACE ${MONOMORPH_${NAME}_LIBRARY})
    target_compile_definitions(monomorph::${NAME} INTERFACE MONOMORPH_HAS_${upper})
  else()
    message(STATUS "Without ${PACKAGE}, ${ARGN}: apt-get install ${PACKAGE} and configure again")
  endif()
endfunction()
monomorph_import_optional(zlib zlib1g-dev zlib.h z "monomorph-data reads no .gz files")
monomorph_import_optional(zstd libzstd-dev zstd.h zstd "monomorph-data reads no .zst files")
monomorph_import_optional(httplib libcpp-httplib-dev httplib.h cpp-httplib "recipes have no serve")

# LibTorch, the CPU libraries of the wheel. find_package(Torch) would insist on a CUDA toolkit.
set(torch_include ${MONOMORPH_TORCH_DIR}/include)
set(torch_lib ${MONOMORPH_TORCH_DIR}/lib)
cmake_path(GET MONOMORPH_TORCH_DIR PARENT_PATH torch_site)  # the wheel's libraries have others beside them
if(NOT EXISTS ${torch_include}/ATen/core/Tensor.h OR NOT EXISTS ${torch_lib}/libtorch_cpu.so)
  message(FATAL_ERROR "[SETUP-02] no LibTorch in ${MONOMORPH_TORCH_DIR}: run ./run-tests, which installs it there, "
    "or give -DMONOMORPH_TORCH_DIR=<folder with include/ and lib/>")
endif()
add_library(monomorph::torch INTERFACE IMPORTED GLOBAL)
target_include_directories(monomorph::torch SYSTEM INTERFACE ${torch_include})
target_compile_definitions(monomorph::torch INTERFACE _GLIBCXX_USE_CXX11_ABI=1)
# It exports functions of the standard library, which is named before it, so that nobody takes them, and needs it, there.
target_link_libraries(monomorph::torch INTERFACE stdc++ ${torch_lib}/libtorch_cpu.so ${torch_lib}/libc10.so)
# The wheel's OpenMP is named like the system's, so that the loader keeps one of them for us and for LibTorch.
if(EXISTS ${torch_lib}/libgomp.so.1)
  target_link_libraries(monomorph::torch INTERFACE ${torch_lib}/libgomp.so.1)
endif()

if(MONOMORPH_CUDA)
  # Of the toolkit: what kernels are started with, products, attention, and collectives.
  find_package(CUDAToolkit 13 QUIET)
  find_path(MONOMORPH_cudnn_INCLUDE cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${torch_site}/nvidia/cudnn/include)
  find_library(MONOMORPH_cudnn_LIBRARY NAMES cudnn libcudnn.so.9
    HINTS ${CUDAToolkit_LIBRARY_DIR} ${torch_site}/nvidia/cudnn/lib)
  find_path(MONOMORPH_nccl_INCLUDE nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ${torch_site}/nvidia/nccl/include)
  find_library(MONOMORPH_nccl_LIBRARY NAMES nccl libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR} ${torch_site}/nvidia/nccl/lib)
  find_path(MONOMORPH_cudnn_frontend_INCLUDE cudnn_frontend.h HINTS ${monomorph_parent}/.deps/cudnn_frontend/include)
  mark_as_advanced(MONOMORPH_cudnn_INCLUDE MONOMORPH_cudnn_LIBRARY MONOMORPH_nccl_INCLUDE MONOMORPH_nccl_LIBRARY
    MONOMORPH_cudnn_frontend_INCLUDE)
  set(lacking "")
  foreach(needed_and_name IN ITEMS "CUDAToolkit_FOUND;the CUDA toolkit 13" "MONOMORPH_cudnn_INCLUDE;cudnn.h of cuDNN 9"
      "MONOMORPH_cudnn_LIBRARY;libcudnn.so.9 of cuDNN 9" "MONOMORPH_nccl_INCLUDE;nccl.h of NCCL 2"
      "MONOMORPH_nccl_LIBRARY;libnccl.so.2 of NCCL 2" "MONOMORPH_cudnn_frontend_INCLUDE;the headers of cuDNN's frontend")
    list(GET needed_and_name 0 needed)
    if(NOT ${needed})
      list(GET needed_and_name 1 name)
      list(APPEND lacking "${name}")
    endif()
  endforeach()
  if(lacking)
    list(JOIN lacking ", " lacking)
    message(FATAL_ERROR "[SETUP-17] the CUDA backend lacks ${lacking}: install that (tools/setup/install --gpu brings the "
      "frontend), or build without MONOMORPH_CUDA")
  endif()
  add_library(monomorph::cuda_libraries INTERFACE IMPORTED GLOBAL)
  target_include_directories(monomorph::cuda_libraries SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} ${MONOMORPH_cudnn_INCLUDE}
    ${MONOMORPH_nccl_INCLUDE})
  target_link_libraries(monomorph::cuda_libraries INTERFACE CUDA::cudart CUDA::cublasLt ${MONOMORPH_nccl_LIBRARY} ${CMAKE_DL_LIBS})
  cmake_path(GET MONOMORPH_cudnn_LIBRARY PARENT_PATH cudnn_lib)
  target_link_options(monomorph::cuda_libraries INTERFACE LINKER:-rpath,${cudnn_lib})  # cuDNN is opened by its name
  add_library(monomorph::cudnn_frontend INTERFACE IMPORTED GLOBAL)
  target_include_directories(monomorph::cudnn_frontend SYSTEM INTERFACE ${MONOMORPH_cudnn_frontend_INCLUDE})
  target_compile_definitions(monomorph::cudnn_frontend INTERFACE NV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING)
endif()

# LibTorch's own fmt, which monomorph::core has compiled, seen through a folder that holds nothing else: who uses fmt
# cannot include torch.
add_library(monomorph::fmt INTERFACE IMPORTED GLOBAL)
set(fmt_only ${CMAKE_BINARY_DIR}/monomorph_fmt)
file(MAKE_DIRECTORY ${fmt_only})
file(CREATE_LINK ${torch_include}/fmt ${fmt_only}/fmt SYMBOLIC)
target_include_directories(monomorph::fmt SYSTEM INTERFACE ${fmt_only})
