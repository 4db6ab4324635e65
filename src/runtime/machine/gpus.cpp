#include <monomorph/runtime/machine/gpus.hpp>

#ifdef MONOMORPH_CUDA
#include "runtime/cuda/gpu_query.hpp"
#endif

namespace monomorph {

#ifdef MONOMORPH_CUDA
std::vector<Gpu> gpus() { return cuda::query_gpus(); }
#else
std::vector<Gpu> gpus() { return {}; }
#endif

}  // namespace monomorph
