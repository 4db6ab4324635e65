# The CUDA runtime, src/runtime/cuda: .cu files are kernels and see no torch header (40 s of nvcc each), .cpp files tie
# them to LibTorch. Included from the root where MONOMORPH_CUDA is on, after monomorph_runtime.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(MONOMORPH_NVCC nvcc PATHS /usr/local/cuda/bin)
  if(NOT MONOMORPH_NVCC)
    message(FATAL_ERROR "[SETUP-06] nvcc not found: install the CUDA toolkit 13 (looked in PATH and /usr/local/cuda/bin), "
      "or give -DCMAKE_CUDA_COMPILER=<nvcc>")
  endif()
  set(CMAKE_CUDA_COMPILER ${MONOMORPH_NVCC})
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 80 90)
endif()
enable_language(CUDA)
if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc learned it
  set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
  set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
endif()
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # the one that LibTorch has loaded

file(GLOB kernels CONFIGURE_DEPENDS src/runtime/cuda/*.cu)
file(GLOB bridges CONFIGURE_DEPENDS src/runtime/cuda/*.cpp)
if(kernels)
  add_library(monomorph_cuda OBJECT ${kernels})
  target_include_directories(monomorph_cuda PRIVATE src)
  target_link_libraries(monomorph_cuda PRIVATE monomorph::spec)
  target_compile_definitions(monomorph_cuda PRIVATE MONOMORPH_BELOW_FIREWALL)
  # Products and sums are fused where a kernel says so, and nowhere else: its bits are those of a CPU.
  target_compile_options(monomorph_cuda PRIVATE --expt-relaxed-constexpr -fmad=false)
  target_sources(monomorph_runtime PRIVATE $<TARGET_OBJECTS:monomorph_cuda>)
endif()
target_sources(monomorph_runtime PRIVATE ${bridges})
target_compile_definitions(monomorph_runtime PRIVATE MONOMORPH_CUDA)
target_include_directories(monomorph_runtime SYSTEM PRIVATE ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
target_link_libraries(monomorph_runtime PRIVATE monomorph::nccl PUBLIC monomorph::torch_cuda)
