#include "emulator/sample_kernels.hpp"

#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"

namespace monomorph::emulator::samples {
namespace {

using cuda::launch;
constexpr cuda::Queue queue{nullptr};
constexpr unsigned all_lanes = 0xFFFF'FFFF;

struct Partial {
  float of_warp[sum_threads / 32];
};

template <bool first_barrier, bool second_barrier> __device__ float block_sum(float x) {
  Partial& partial = cuda::block_memory<Partial>();
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_xor_sync(all_lanes, x, distance);
  if (threadIdx.x % 32 == 0) partial.of_warp[threadIdx.x / 32] = x;
  if (first_barrier) __syncthreads();
  float sum = 0;
  for (const float of_warp : partial.of_warp) sum += of_warp;
  if (second_barrier) __syncthreads();
  return sum;
}

template <bool first_barrier, bool second_barrier> __global__ void sum_of_rows(const float* x, float* sums, int rows) {
  for (auto row = static_cast<int>(blockIdx.x); row < rows; row += static_cast<int>(gridDim.x)) {
    const float sum = block_sum<first_barrier, second_barrier>(x[row * sum_threads + static_cast<int>(threadIdx.x)]);
    if (threadIdx.x == 0) sums[row] = sum;
  }
}

__global__ void half_at_barrier() {
  if (threadIdx.x < blockDim.x / 2) __syncthreads();
}

__global__ void shuffle_of_some(unsigned mask, unsigned first_absent, unsigned last_absent, int distance) {
  if (threadIdx.x >= first_absent && threadIdx.x <= last_absent) return;
  __shfl_xor_sync(mask, threadIdx.x, distance);
}

__global__ void ballot(const std::uint32_t* numbers, std::uint32_t* counts) {
  const unsigned odd = __ballot_sync(all_lanes, static_cast<int>(numbers[threadIdx.x] % 2));
  counts[threadIdx.x] = static_cast<std::uint32_t>(__builtin_popcount(odd & ((1u << threadIdx.x % 32) - 1)));
}

__global__ void add_one(unsigned long long* count) { atomicAdd(count, 1); }

__global__ void read_first(float* found, std::uint32_t* found_in_dynamic) {
  Partial& partial = cuda::block_memory<Partial>();
  auto* const dynamic = static_cast<std::uint32_t*>(dynamic_memory());
  found[blockIdx.x] = partial.of_warp[0];
  found_in_dynamic[blockIdx.x] = dynamic[4];
  partial.of_warp[0] = 1;
  dynamic[4] = 1;
}

__global__ void number_of_block(std::uint32_t* word) {
  if (threadIdx.x == 0) *word = blockIdx.x;
}

__global__ void exchange_with_neighbours(std::uint32_t* x, std::uint32_t* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = i;
  y[i] = x[(i + blockDim.x) % (gridDim.x * blockDim.x)];
}

__global__ void count_and_read(unsigned long long* count, unsigned long long* found) {
  atomicAdd(count, 1);
  if (blockIdx.x == 0 && threadIdx.x == 0) *found = *count;
}

__global__ void take_part(unsigned long long* count, std::uint8_t* bytes, const std::uint32_t* x) {
  Partial& partial = cuda::block_memory<Partial>();
  auto* const dynamic = static_cast<std::uint32_t*>(dynamic_memory());
  std::uint32_t own[2] = {x[0], x[1]};
  asm volatile("" : : "r"(own) : "memory");  // an address makes it lie on the stack
  if (threadIdx.x != 0) return;
  atomicAdd(count, own[0]);
  partial.of_warp[0] = static_cast<float>(own[1]);
  dynamic[4] = x[2];
  bytes[blockIdx.x] = static_cast<std::uint8_t>(dynamic[4] + static_cast<std::uint32_t>(partial.of_warp[0]));
}

__global__ void do_nothing() {}

constexpr unsigned few_blocks = 3;

}  // namespace

void sum_rows(const float* x, float* sums, int rows) {
  launch(sum_of_rows<true, true>, {few_blocks, sum_threads}, queue, x, sums, rows);
}
void sum_rows_without_first_barrier(const float* x, float* sums, int rows) {
  launch(sum_of_rows<false, true>, {few_blocks, sum_threads}, queue, x, sums, rows);
}
void sum_rows_without_second_barrier(const float* x, float* sums, int rows) {
  launch(sum_of_rows<true, false>, {few_blocks, sum_threads}, queue, x, sums, rows);
}
void leave_before_barrier() { launch(half_at_barrier, {1, 64}, queue); }
void leave_before_shuffle() { launch(shuffle_of_some, {1, 32}, queue, all_lanes, 3u, 4u, 1); }
void ask_absent_lanes() { launch(shuffle_of_some, {1, 32}, queue, 0xFFFFu, 16u, 31u, 16); }
void count_odd(const std::uint32_t* numbers, std::uint32_t* counts) { launch(ballot, {1, 64}, queue, numbers, counts); }
void count_threads(unsigned long long* count) { launch(add_one, {8, 64}, queue, count); }
void read_unwritten(float* found, std::uint32_t* found_in_dynamic) {
  launch(read_first, {2, 1, 32}, queue, found, found_in_dynamic);
}
void write_one_word(std::uint32_t* word) { launch(number_of_block, {4, 32}, queue, word); }
void read_of_neighbours(std::uint32_t* x, std::uint32_t* y) { launch(exchange_with_neighbours, {4, 32}, queue, x, y); }
void read_a_count(unsigned long long* count, unsigned long long* found) {
  launch(count_and_read, {4, 32}, queue, count, found);
}
void race_for_nothing(unsigned long long* count, std::uint8_t* bytes, const std::uint32_t* x) {
  launch(take_part, {4, 32, 32}, queue, count, bytes, x);
}
void start_too_many() { launch(do_nothing, {1, 2048}, queue); }

}  // namespace monomorph::emulator::samples
