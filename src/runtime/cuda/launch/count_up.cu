#include "runtime/cuda/launch/count_up.hpp"

#include "runtime/cuda/launch/launch.hpp"

namespace monomorph::cuda {
namespace {

__global__ void one_more(std::uint64_t* number) { ++*number; }

}  // namespace

void count_up(Queue queue, std::uint64_t* number) { launch(one_more, {1u, 1u}, queue, number); }

}  // namespace monomorph::cuda
