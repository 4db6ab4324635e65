#pragma once
#include <cstdint>

/// What kernels of every device check on the host before they run.
namespace monomorph::detail {

/// @throws Error [KERNEL-01] an id is outside of the table
void check_token_ids(const std::int32_t* ids_M, std::int64_t rows, std::int64_t table_rows);

/// How many targets are not ignored.   @throws Error [KERNEL-02] a target is outside of the vocabulary
std::int64_t count_targets(const std::int32_t* targets_C, std::int64_t rows, std::int64_t vocab_size);

}  // namespace monomorph::detail
