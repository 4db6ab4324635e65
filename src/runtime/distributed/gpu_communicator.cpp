#include "runtime/distributed/gpu_communicator.hpp"

#include <fmt/format.h>

namespace monomorph::distributed {

Error without_gpu(int rank, const std::string& reason) {
  return Error("RANK-15", fmt::format("rank {} needs a GPU, and {}", rank, reason));
}

#ifndef MONOMORPH_NCCL
std::unique_ptr<Communicator> gpu_communicator(const Store&, RankPlace place, int, DType, std::chrono::milliseconds) {
  throw without_gpu(place.rank, "this program was built without collectives between GPUs; build it with MONOMORPH_NCCL");
}
#endif

}  // namespace monomorph::distributed
