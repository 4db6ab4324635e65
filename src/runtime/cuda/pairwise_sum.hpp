#pragma once
#include <monomorph/runtime/memory/view.hpp>

#include <span>

struct CUstream_st;

namespace monomorph::cuda {

/// cpu::pairwise_sum of 1 to most_terms views in a GPU's memory, put on a stream.
/// @throws Error [KERNEL-05] CUDA does not start it
void pairwise_sum(std::span<const View> parts, View sum, bool accumulate, CUstream_st* stream);

}  // namespace monomorph::cuda
