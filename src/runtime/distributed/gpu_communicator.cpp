#include "runtime/distributed/gpu_communicator.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

#ifdef MONOMORPH_CUDA
#include "runtime/cuda/gpu_communicator.hpp"
#include "runtime/cuda/gpu_query.hpp"
#include "runtime/distributed/first_line.hpp"
#endif

namespace monomorph::distributed {
namespace {

Error without_gpu(int rank, const std::string& reason) {
  return Error(fmt::format("[RANK-15] rank {} needs a GPU, and {}", rank, reason));
}

}  // namespace

#ifdef MONOMORPH_CUDA
std::unique_ptr<Communicator> gpu_communicator(const Store& store, RankPlace place, int shards, DType wire,
                                               std::chrono::milliseconds time_limit) {
  if (const auto reason = cuda::why_no_gpu())  // before c10d, which says it with its stack
    throw without_gpu(place.rank,
                      fmt::format("CUDA has none here ({}); see nvidia-smi and CUDA_VISIBLE_DEVICES there", *reason));
  try {
    return cuda::gpu_communicator(store, place, shards, wire, time_limit);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {  // LibTorch's, of CUDA: no memory left, for one
    throw without_gpu(place.rank, fmt::format("its own does not serve ({})", first_line(failure)));
  }
}
#else
std::unique_ptr<Communicator> gpu_communicator(const Store&, RankPlace place, int, DType, std::chrono::milliseconds) {
  throw without_gpu(place.rank, "this program was built without CUDA; build it with the preset gpu");
}
#endif

}  // namespace monomorph::distributed
