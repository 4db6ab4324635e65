#pragma once
#include <array>
#include <cstdint>
#include <monomorph/core/exact_sum.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// Passes over flat shards: elements a multiple of 64, contiguous.
namespace monomorph::kernels {

struct AdamWStep {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  double bias_correction1, bias_correction2;  ///< 1 - βᵢ^t
  double gradient_scale;                      ///< 1 / counted tokens, and norm clipping
  double clip_value;                          ///< bound of each scaled gradient element; +infinity: none
  std::uint64_t update = 0;                   ///< its number: what stochastic rounding depends on
};

/// Random bits for rounding, the same for an element however buffers are cut: of a unit by its key, of an update by its
/// number, of an element by its place in the unit.
struct RoundingNoise {
  std::array<std::uint32_t, 2> key{};
  std::uint64_t update = 0;
  std::uint64_t first = 0;  ///< place of the buffers' first element, a multiple of 64
};

/// Decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2), one pass: reads the gradient; updates the fp32
/// master and the moments; if low_precision is present, writes the master's rounded copy. With fp64 buffers all is
/// fp64. With a bf16 master, the moments bf16 too, all three are rounded stochastically: up with the probability of
/// what is cut off, so that updates too small for bf16 are taken in the mean (Gupta et al. 2015, section 3). What
/// rounding takes from the master is added to the first moment such that the next steps make it good: errors don't
/// add up (docs/why/rounded_masters.md).
void adamw(View gradient, View master, View moment1, View moment2, View low_precision, const AdamWStep& step,
           const RoundingNoise& noise = {});

/// Norms of a gradient shard. Blocks of 64 elements, which no shard's border cuts, are summed in fp64 and then added
/// exactly: how a buffer is cut into shards does not show.
ExactSum sum_of_squares(View x);
ExactSum sum_of_magnitudes(View x);
double greatest_magnitude(View x);  ///< NaN if any element is

}  // namespace monomorph::kernels
