#pragma once
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <monomorph/runtime/kernels/cross_entropy.hpp>

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

/// What kernels share of which a block has the logits of a token.
namespace monomorph::cuda {
namespace {

// ---- In a block
// ------------------------------------------------------------------------------------------------------

/// f<width>(column) for packs of n columns, and f<1>(column) for those behind them.
template <int width, class F> __device__ void each_pack(std::int64_t n, F f) {
  const std::int64_t packed = n / width * width, step = static_cast<std::int64_t>(blockDim.x) * width;
  for (std::int64_t column = static_cast<std::int64_t>(threadIdx.x) * width; column < packed; column += step)
    f.template operator()<width>(column);
  if (const std::int64_t rest = packed + threadIdx.x; rest < n) f.template operator()<1>(rest);
}

/// The same from the last on, as what was read last is the likeliest still to be in the cache.
template <int width, class F> __device__ void each_pack_backward(std::int64_t n, F f) {
  const std::int64_t packs = n / width;
  if (const std::int64_t rest = packs * width + threadIdx.x; rest < n) f.template operator()<1>(rest);
  const std::int64_t turns = (packs + blockDim.x - 1) / blockDim.x;
  for (std::int64_t pack = (turns - 1) * blockDim.x + threadIdx.x; pack >= 0; pack -= blockDim.x)
    if (pack < packs) f.template operator()<width>(pack * width);
}

/// write(a zero, column) for all columns but the first `n`.
template <class S, class F> __device__ void zero_columns(std::int64_t n, std::int64_t columns, F write) {
  for (std::int64_t column = n + threadIdx.x; column < columns; column += blockDim.x) write(Pack<S, 1>{{0}}, column);
}

// ---- Of all tokens
// ---------------------------------------------------------------------------------------------------

constexpr int loss_threads = 256;

/// One block adds up the losses of all tokens, in one order, and counts those that have a target.
template <class S>
__global__ void __launch_bounds__(loss_threads)
    add_losses(const S* loss, const std::int32_t* targets, std::int64_t rows, LossSum* sum) {
  double own = 0;
  int own_targets = 0;
  for (std::int64_t row = threadIdx.x; row < rows; row += loss_threads) {
    own += static_cast<double>(loss[row]);
    own_targets += targets[row] != ignored_target ? 1 : 0;
  }
  const double total = joined_in_block<struct OfLosses>(own, Sum{});
  const int counted = joined_in_block<struct OfTargets>(own_targets, Sum{});
  if (threadIdx.x == 0) {
    sum->loss += total;
    sum->tokens += counted;
  }
}

/// Adds up what a kernel has found, unless nobody asks for the sum.   @param logits with their targets on the GPU
inline void add_to_sum(Queue queue, const TokenLogits& logits) {
  if (logits.sum == nullptr) return;
  in_compute_type(logits.logits_CV.dtype, [&]<class S>() {
    launch(add_losses<S>, {1, loss_threads}, queue, logits.loss_C.as<const S>(), logits.targets_C,
           logits.logits_CV.shape.rows, logits.sum);
  });
}

// ---- On the host
// -----------------------------------------------------------------------------------------------------

/// As many as have a few packs each.
inline unsigned threads_for(std::int64_t vocabulary, int width, std::int64_t most) {
  constexpr std::int64_t packs = 2;
  const std::int64_t threads = std::clamp(vocabulary / (width * packs), std::int64_t{64}, most);
  return std::bit_floor(static_cast<unsigned>(threads));
}

inline void check_dtypes(const char* kernel, const TokenLogits& logits) {
  const DType dtype = logits.logits_CV.dtype;
  if ((dtype != DType::fp32 && dtype != DType::fp64) || logits.loss_C.dtype != dtype)
    throw std::logic_error(std::string(kernel) + " takes logits of fp32 or fp64, and gives losses of their dtype");
}

inline void check_gradients(const char* kernel, const TokenLogits& logits) {
  const View &in = logits.logits_CV, &out = logits.dlogits_CV;
  if (out.present() && out.dtype != in.dtype && (in.dtype != DType::fp32 || size_of(out.dtype) != 2))
    throw std::logic_error(std::string(kernel) +
                           " gives gradients of the logits' dtype, or of 16 bits by logits of fp32");
}

}  // namespace
}  // namespace monomorph::cuda
