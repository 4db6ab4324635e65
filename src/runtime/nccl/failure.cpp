#include "runtime/nccl/failure.hpp"

#include "runtime/distributed/failures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

namespace monomorph::cuda {

RankFailure nccl_failure(ncclResult_t result) {
  const char* const said = ncclGetErrorString(result);
  if (result == ncclRemoteError) return distributed::gone_rank(std::nullopt, said);
  return {std::nullopt, "RANK-27", fmt::format("NCCL failed on this rank ({})", said)};
}

Error not_connected(const RankGroup& ranks, std::string_view reason) {
  return Error("RANK-18", fmt::format("rank {} can't connect its GPU with those of ranks {} ({}); NCCL says more with "
                                      "NCCL_DEBUG=INFO",
                                      ranks.ranks[ranks.rank_in_group], fmt::join(ranks.ranks, ", "), reason));
}

}  // namespace monomorph::cuda
