# The CUDA backend, src/runtime/cuda and src/runtime/nccl, and the device cuda: .cu files are kernels, .cpp files call CUDA's
# libraries. None has a torch header. Included from the root where MONOMORPH_CUDA is on, after monomorph_runtime.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(MONOMORPH_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(NOT MONOMORPH_NVCC)
    message(FATAL_ERROR "[SETUP-06] nvcc not found: install the CUDA toolkit 13 (looked in PATH and /usr/local/cuda/bin), "
      "or give -DCMAKE_CUDA_COMPILER=<nvcc>")
  endif()
  set(CMAKE_CUDA_COMPILER ${MONOMORPH_NVCC})
endif()
# Kernels are plain CUDA, which has the same intermediate code for all architectures from sm_80 on: nvcc's front end, half
# of its time, runs once for both.
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES OFF)
  set(monomorph_architectures "-gencode=arch=compute_80,code=[compute_80,sm_80,sm_90]")
endif()
# Of the host's code, which only starts kernels; what runs on a GPU is always optimised.
set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG" CACHE STRING "")
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc learned it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # cuBLASLt and cuDNN load it, too

# monomorph_unite_kernels(<variable>): in place of its .cu files one for each of their folders, which includes them. nvcc takes
# two seconds before it comes to a file's first line (docs/why/build_time.md).
function(monomorph_unite_kernels VARIABLE)
  set(sources ${${VARIABLE}})
  foreach(file IN LISTS ${VARIABLE})
    if(file MATCHES "/([^/]+)/[^/]+[.]cu$")
      list(REMOVE_ITEM sources ${file})
      list(APPEND folders ${CMAKE_MATCH_1})
      string(APPEND includes_${CMAKE_MATCH_1} "#include \"${file}\"\n")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    set(united ${CMAKE_CURRENT_BINARY_DIR}/kernels/${folder}.cu)
    file(CONFIGURE OUTPUT ${united} CONTENT "${includes_${folder}}" @ONLY)
    list(APPEND sources ${united})
  endforeach()
  set(${VARIABLE} ${sources} PARENT_SCOPE)
endfunction()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/runtime/cuda/*.cu src/runtime/cuda/*.cpp src/runtime/nccl/*.cpp)
list(FILTER sources EXCLUDE REGEX "gpu_query.cpp")
if(CMAKE_UNITY_BUILD)
  monomorph_unite_kernels(sources)
endif()
add_library(monomorph_cuda STATIC ${sources})
add_library(monomorph::cuda ALIAS monomorph_cuda)
include(ProductAlgorithms)
monomorph_add_product_algorithms(monomorph_cuda)
target_include_directories(monomorph_cuda PRIVATE src)
target_link_libraries(monomorph_cuda PUBLIC monomorph::runtime monomorph::cuda_libraries
  PRIVATE monomorph::fmt monomorph::cudnn_frontend)
set_target_properties(monomorph_cuda PROPERTIES UNITY_BUILD OFF)
# Products and sums are fused where a kernel says so, and nowhere else: its bits are those of a CPU.
target_compile_options(monomorph_cuda PRIVATE
  $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-fmad=false;-diag-suppress=20012;${monomorph_architectures}>)
target_compile_options(monomorph_cuda PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O2>)

# cuDNN's front end takes g++ a minute with -O2, and only orders work.
set_source_files_properties(src/runtime/cuda/attention/cudnn_plan.cpp PROPERTIES COMPILE_OPTIONS -O1)

# What the machine's GPUs are is asked by the library that says so.
target_sources(monomorph_runtime PRIVATE src/runtime/cuda/host/gpu_query.cpp)
target_compile_definitions(monomorph_runtime PRIVATE MONOMORPH_CUDA)
target_link_libraries(monomorph_runtime PRIVATE monomorph::cuda_libraries)

monomorph_add_device(cuda TYPE monomorph::device::Cuda HEADER include/monomorph/runtime/cuda/device.hpp LIBRARIES monomorph::cuda)
