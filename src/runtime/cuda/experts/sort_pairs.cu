#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"

// Pairs are cut into chunks by their number alone. How many of a chunk go to each expert is counted first; one block
// adds that up, to where an expert's pairs of each chunk begin; and a warp for each chunk then puts its pairs there in
// their order.
namespace monomorph::cuda {
namespace {

constexpr int count_threads = 256, lanes = 32;

struct Chunks {
  std::int64_t n_pairs, each;
  int n;
  explicit Chunks(std::int64_t pairs) : n_pairs(pairs) {
    constexpr std::int64_t least = 256, most_chunks = 512;
    const std::int64_t even = (pairs + most_chunks - 1) / most_chunks;
    each = larger_of((even + lanes - 1) / lanes * lanes, least);
    n = static_cast<int>((pairs + each - 1) / each);
  }
  __device__ std::int64_t begin() const { return blockIdx.x * each; }
  __device__ std::int64_t end() const { return begin() + each < n_pairs ? begin() + each : n_pairs; }
};

struct OfExperts {
  std::int32_t at[most_experts];
};

__global__ void __launch_bounds__(count_threads)
    count_pairs(Chunks chunks, const std::int32_t* experts, int n_experts, std::int32_t* counts_of_chunks) {
  auto& counts = block_memory<OfExperts>().at;
  for (int expert = static_cast<int>(threadIdx.x); expert < n_experts; expert += count_threads) counts[expert] = 0;
  __syncthreads();
  for (std::int64_t pair = chunks.begin() + threadIdx.x; pair < chunks.end(); pair += count_threads)
    atomicAdd(&counts[experts[pair]], 1);
  __syncthreads();
  for (int expert = static_cast<int>(threadIdx.x); expert < n_experts; expert += count_threads)
    counts_of_chunks[std::int64_t{blockIdx.x} * n_experts + expert] = counts[expert];
}

/// From how many pairs of an expert each chunk has to how many the chunks before it have. A thread has an expert.
__global__ void __launch_bounds__(most_experts)
    add_up_chunks(int chunks, int n_experts, std::int64_t capacity, std::int32_t* of_chunks, std::int32_t* counts,
                  std::int32_t* begins) {
  auto& rows = block_memory<OfExperts>().at;
  const int expert = static_cast<int>(threadIdx.x);
  if (expert < n_experts) {
    std::int32_t before = 0;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      std::int32_t& of_chunk = of_chunks[std::int64_t{chunk} * n_experts + expert];
      const std::int32_t n = of_chunk;
      of_chunk = before;
      before += n;
    }
    counts[expert] = before;
    rows[expert] = before < capacity ? before : static_cast<std::int32_t>(capacity);
  }
  __syncthreads();
  if (expert >= n_experts) return;
  std::int32_t begin = 0;
  for (int other = 0; other < expert; ++other) begin += rows[other];
  begins[expert] = begin;
  if (expert == n_experts - 1) begins[n_experts] = begin + rows[expert];
}

struct Places {
  std::int32_t next[most_experts];
};

/// @param before how many pairs of each expert the chunks before this one have
__global__ void __launch_bounds__(lanes)
    place_pairs(Chunks chunks, const std::int32_t* experts, int n_experts, const std::int32_t* before,
                const std::int32_t* begins, std::int32_t* rows, std::int32_t* pairs) {
  auto& next = block_memory<Places>().next;
  const int lane = static_cast<int>(threadIdx.x);
  for (int expert = lane; expert < n_experts; expert += lanes)
    next[expert] = begins[expert] + before[std::int64_t{blockIdx.x} * n_experts + expert];
  for (std::int64_t first = chunks.begin(); first < chunks.end(); first += lanes) {
    const std::int64_t pair = first + lane;
    const bool is_there = pair < chunks.end();
    const int expert = is_there ? experts[pair] : -1;
    int earlier = 0, equal = 0;  // of the warp's pairs, those with this expert
    for (int other = 0; other < lanes; ++other) {
      const bool same = __shfl_sync(0xFFFF'FFFFu, expert, other) == expert;
      equal += same ? 1 : 0;
      earlier += same && other < lane ? 1 : 0;
    }
    __syncthreads();
    const std::int32_t row = is_there ? next[expert] + earlier : 0;
    __syncthreads();
    if (!is_there) continue;
    if (earlier + 1 == equal) next[expert] = row + 1;
    const bool has_room = row < begins[expert + 1];
    rows[pair] = has_room ? row : -1;
    if (has_room) pairs[row] = static_cast<std::int32_t>(pair);
  }
}

}  // namespace

void sort_pairs(Queue queue, const Routing& routing, std::int64_t capacity) {
  const KernelSpan span(Work::elementwise, "sort_pairs", queue.stream);
  const Chunks chunks(routing.tokens * routing.top_k);
  const auto n_experts = static_cast<int>(routing.n_experts);
  const auto n_chunks = static_cast<unsigned>(chunks.n);
  auto* const of_chunks =
      reinterpret_cast<std::int32_t*>(workspace(queue, n_chunks * n_experts * std::int64_t{sizeof(std::int32_t)}));
  launch(count_pairs, {n_chunks, count_threads}, queue, chunks, routing.experts_Mk, n_experts, of_chunks);
  const auto adding = static_cast<unsigned>((n_experts + lanes - 1) / lanes * lanes);
  launch(add_up_chunks, {1, adding}, queue, chunks.n, n_experts, capacity, of_chunks, routing.counts_E,
         routing.begins_E);
  launch(place_pairs, {n_chunks, lanes}, queue, chunks, routing.experts_Mk, n_experts, of_chunks, routing.begins_E,
         routing.rows_Mk, routing.pairs_N);
}

}  // namespace monomorph::cuda
