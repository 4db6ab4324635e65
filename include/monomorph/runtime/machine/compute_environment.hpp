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

/// Has our kernels and LibTorch's use the instruction set that MONOMORPH_ISA names, if it is set: call it before either
/// runs.   @throws UsageError [RUN-18] the processor has no such set
void choose_instruction_set();

}  // namespace monomorph
