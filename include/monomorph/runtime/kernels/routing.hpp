#pragma once
#include <cstdint>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/mixture_spec.hpp>

/// What a mixture of experts does besides matrix products. M tokens, E experts, k of them a token's. A pair is a token
/// with one of its experts: pair m·k + j is token m's with its j-th. Rows of pairs lie sorted by expert, and of one
/// expert by pair. No bit of a result depends on the number of threads: what is added up is added by token, then by
/// choice.
namespace monomorph {

/// A router's decisions. Real numbers are of the statistics' dtype, fp32 or fp64.
struct Routing {
  View scores_ME;            ///< given as logits; of backward, becomes their gradient
  View weights_Mk;           ///< with which a token's experts count; of backward, becomes their gradient
  View lse_M;                ///< log-sum-exps of the logits; absent if they have no loss
  std::int32_t* experts_Mk;  ///< of a token, in descending order of what chose them
  std::int32_t* rows_Mk;     ///< by pair, -1 if the expert was full
  std::int32_t* pairs_N;     ///< by row
  std::int32_t* counts_E;    ///< pairs of each expert, those that it has no room for included
  std::int32_t* begins_E;    ///< the first row of each expert; the last of E + 1 is the number of rows
  std::int64_t tokens, n_experts, top_k;

  std::int64_t n_rows() const { return begins_E[n_experts]; }
};

/// Auxiliary losses of a router, each a mean over tokens (spec/mixture_spec.hpp).
struct RouterLosses {
  double balance = 0, z = 0;  ///< their coefficients
};

}  // namespace monomorph

namespace monomorph::cpu {

/// From logits to scores and each token's experts: those with the highest score plus bias, of equal ones the first.
/// @param bias_E of any dtype, may be absent
void choose_experts(Queue, const Routing& routing, RouterScores scores, bool normalize, View bias_E);
/// Sorts the pairs by expert.   @param capacity rows of an expert at most: it takes the first of its pairs
void sort_pairs(Queue, const Routing& routing, std::int64_t capacity);
/// Adds the auxiliary losses of what was chosen, times their coefficients.
void add_router_loss(Queue, const Routing& routing, RouterScores scores, const RouterLosses& losses, double* sum);
/// Adds the pairs of each expert.
void add_loads(Queue, const Routing& routing, std::int64_t* loads_E);
/// From gradients of weights and of the auxiliary losses, which count as often as the step's scalars say, to those of
/// the logits.
void choose_experts_backward(Queue, const Routing& routing, RouterScores scores, bool normalize,
                             const RouterLosses& losses, const StepScalars* step);

/// Row by row the pair's token.
void gather_rows(Queue, View x_MD, const Routing& routing, View rows_ND);
/// y = residual + Σ weight · row over each token's pairs that have one. The residual may be y, or absent; without
/// weights all are 1.
void combine_rows(Queue, View rows_ND, const Routing& routing, View weights_Mk, View residual_MD, View y_MD);
/// Of rows a and the gradient d of weight · a, both without the weight: the gradient of the weight, Σ a · d, takes the
/// weight's place, and rows of both are multiplied by it.
void weigh_rows_backward(Queue, View a_NF, View d_NF, const Routing& routing);

/// bias += rate · sign(mean load - load), exactly as integers compare.   @param run of the unit's elements
/// @param first place in the unit of the first expert's bias
void balance_biases(Queue, const ElementUpdate& run, std::int64_t first, const std::int64_t* loads,
                    std::int64_t n_experts, double rate, const UpdateTerms& terms);

}  // namespace monomorph::cpu
