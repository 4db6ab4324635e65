#pragma once

// What nvcc defines and includes before the first line of a source, so that kernels on the emulator are the lines that
// a GPU runs. The architecture is that for which cmake/MonomorphCuda.cmake lets nvcc's front end run. __NVCC__, which
// says that the compiler knows CUDA's language, is not there.
#define __CUDACC__
#define __CUDA_ARCH__ 800

#include "cuda_runtime.h"
