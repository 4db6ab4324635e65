#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/rank_failure.hpp>
#include <monomorph/runtime/comm/rank_group.hpp>

#include <nccl.h>

#include <string_view>

namespace monomorph::cuda {

/// [RANK-11] another rank has gone, or [RANK-27] NCCL has failed here. It does not say which rank it was.
RankFailure nccl_failure(ncclResult_t result);

/// [RANK-18]
Error not_connected(const RankGroup& ranks, std::string_view reason);

}  // namespace monomorph::cuda
