#pragma once
#include <string>

namespace monomorph {

/// What computes beside the program itself: on another machine the same run may differ in the last bits.
struct ComputeEnvironment {
  std::string instruction_set;  ///< of our kernels: "generic", "avx2" or "avx512"
  std::string libtorch;         ///< how LibTorch describes itself and its libraries, several lines
  int threads = 0;
};
ComputeEnvironment compute_environment();

}  // namespace monomorph
