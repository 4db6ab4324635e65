#pragma once
#include <monomorph/runtime/view.hpp>

/// Passes over flat shards: elements a multiple of 64, contiguous.
namespace monomorph::kernels {

struct AdamWStep {
  double learning_rate, beta1, beta2, epsilon, weight_decay;
  double bias_correction1, bias_correction2;  ///< 1 - βᵢ^t
  double gradient_scale;                      ///< 1 / counted tokens, and norm clipping
  double clip_value;                          ///< bound of each scaled gradient element; +infinity: none
};

/// Decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2), one pass: reads the gradient; updates the fp32
/// master and the moments; if low_precision is present, writes the master's rounded copy. With fp64 buffers all is
/// fp64.
void adamw(View gradient, View master, View moment1, View moment2, View low_precision, const AdamWStep& step);

/// Norms of a gradient shard, each over fixed blocks of 4,096 elements that are combined in order, in fp64.
double sum_of_squares(View x);
double sum_of_magnitudes(View x);
double greatest_magnitude(View x);  ///< NaN if any element is

}  // namespace monomorph::kernels
