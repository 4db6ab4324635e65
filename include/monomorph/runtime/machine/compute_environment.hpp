#pragma once
#include <string>

namespace monomorph {

/// What decides the last bits of a run besides the program. It may differ on another machine.
struct ComputeEnvironment {
  std::string instruction_set;  ///< of our kernels: "generic", "avx2" or "avx512"
  std::string libtorch;         ///< how LibTorch describes itself and its libraries, several lines
  int threads = 0;
};
ComputeEnvironment compute_environment();

/// Makes our kernels and LibTorch's use the instruction set that MONOMORPH_ISA names, if it is set. Call it before
/// either runs.   @throws UsageError [RUN-18] the processor has no such set
void choose_instruction_set();

}  // namespace monomorph
