#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <cmath>
#include <limits>

// A warp has a token, and each of its lanes every 32nd expert. What a lane needs of another's experts comes by
// shuffles, so that no lane reads memory that another one writes.
namespace monomorph::cuda {
namespace {

constexpr int router_warps = 8, router_threads = router_warps * warp_lanes;

/// A routing as a kernel gets it.
template <class S> struct Routed {
  S *scores, *weights, *lse;
  std::int32_t* experts;
  const std::int32_t *rows, *counts;
  std::int64_t tokens;
  int n_experts, top_k;

  explicit Routed(const Routing& routing)
      : scores(routing.scores_ME.as<S>()),
        weights(routing.weights_Mk.as<S>()),
        lse(routing.lse_M.present() ? routing.lse_M.as<S>() : nullptr),
        experts(routing.experts_Mk),
        rows(routing.rows_Mk),
        counts(routing.counts_E),
        tokens(routing.tokens),
        n_experts(static_cast<int>(routing.n_experts)),
        top_k(static_cast<int>(routing.top_k)) {}

  /// What a unit of an expert's mean score adds to the balance loss: E times the part of the tokens that chose it.
  __device__ double balance_factor(int expert) const {
    return static_cast<double>(n_experts) * counts[expert] / static_cast<double>(tokens);
  }
};

/// What a warp's token has in a routing.
template <class S> struct Token {
  S *scores, *weights, *lse;
  std::int32_t* experts;
  const std::int32_t* rows;
  int n_experts, top_k, lane;

  __device__ Token(const Routed<S>& routed, std::int64_t token)
      : scores(routed.scores + token * routed.n_experts),
        weights(routed.weights + token * routed.top_k),
        lse(routed.lse == nullptr ? nullptr : routed.lse + token),
        experts(routed.experts + token * routed.top_k),
        rows(routed.rows + token * routed.top_k),
        n_experts(routed.n_experts),
        top_k(routed.top_k),
        lane(static_cast<int>(threadIdx.x) % warp_lanes) {}

  /// Calls f(expert) for the lane's experts.
  template <class F> __device__ void each_own(F f) const {
    MONOMORPH_KEEP_LOOP
    for (int expert = lane; expert < n_experts; expert += warp_lanes) f(expert);
  }
  /// The sum of f(expert) over all experts, in each lane.
  template <class F> __device__ auto sum_of(F f) const {
    decltype(f(0)) sum = 0;
    each_own([&](int expert) { sum += f(expert); });
    return joined_in_warp(sum, warp_lanes, Sum());
  }
  /// The sum of f(choice, expert) over the token's choices, in each lane.
  template <class F> __device__ S sum_of_chosen(F f) const {
    S sum = 0;
    each_own_choice([&](int choice, int expert) { sum += f(choice, expert); });
    return joined_in_warp(sum, warp_lanes, Sum());
  }
  template <class F> __device__ void each_own_choice(F f) const {
    MONOMORPH_KEEP_LOOP
    for (int choice = 0; choice < top_k; ++choice)
      if (experts[choice] % warp_lanes == lane) f(choice, experts[choice]);
  }
  /// Of a choice, once weights hold their gradients: none where the expert was full.
  __device__ S dweight(int choice) const { return rows[choice] < 0 ? S(0) : weights[choice]; }
};

__device__ inline std::int64_t token_of_warp() {
  return std::int64_t{blockIdx.x} * router_warps + threadIdx.x / warp_lanes;
}

/// That sums of scores are divided by without harm: sigmoids may all be zero.
template <class S> constexpr S least_divisor = S(1e-20);

template <class S> __device__ void softmax(const Token<S>& token) {
  S greatest = -std::numeric_limits<S>::infinity();
  token.each_own([&](int expert) { greatest = Greater()(greatest, token.scores[expert]); });
  greatest = joined_in_warp(greatest, warp_lanes, Greater());
  const S sum =
      token.sum_of([&](int expert) { return token.scores[expert] = std::exp(token.scores[expert] - greatest); });
  token.each_own([&](int expert) { token.scores[expert] /= sum; });
  if (token.lse != nullptr && token.lane == 0) *token.lse = greatest + std::log(sum);
}

/// An expert as it stands for choice.
template <class S> struct Candidate {
  S key;
  int expert;
  S score;
  /// By descending keys, and of equal ones by number.
  __device__ bool precedes(const Candidate& other) const {
    return key > other.key || (key == other.key && expert < other.expert);
  }
  __device__ Candidate from_lane(int distance) const {
    return {__shfl_xor_sync(0xFFFF'FFFFu, key, distance), __shfl_xor_sync(0xFFFF'FFFFu, expert, distance),
            __shfl_xor_sync(0xFFFF'FFFFu, score, distance)};
  }
};

/// The first of the experts behind the one that was chosen before. What is not a number stands behind all numbers, so
/// that there are always as many experts as a token chooses.
template <class S, class Bias>
__device__ Candidate<S> next_choice(const Token<S>& token, const Bias* bias, const Candidate<S>& before) {
  constexpr S least = -std::numeric_limits<S>::infinity();
  Candidate<S> best{least, std::numeric_limits<int>::max(), 0};
  token.each_own([&](int expert) {
    const S score = token.scores[expert], key = score + (bias == nullptr ? S(0) : converted<S>(bias[expert]));
    const Candidate<S> candidate{key == key ? key : least, expert, score};
    if (before.precedes(candidate) && candidate.precedes(best)) best = candidate;
  });
  MONOMORPH_UNROLL
  for (int distance = warp_lanes / 2; distance > 0; distance /= 2) {
    const Candidate<S> other = best.from_lane(distance);
    if (other.precedes(best)) best = other;
  }
  return best;
}

template <class S, class Bias>
__global__ void __launch_bounds__(router_threads)
    choose(Routed<S> routed, RouterScores scores, bool normalize, const Bias* bias) {
  if (token_of_warp() >= routed.tokens) return;
  const Token<S> token(routed, token_of_warp());
  if (scores == RouterScores::softmax)
    softmax(token);
  else
    token.each_own([&](int expert) { token.scores[expert] = S(1) / (S(1) + std::exp(-token.scores[expert])); });
  Candidate<S> chosen{std::numeric_limits<S>::infinity(), -1, 0};
  S sum = 0;
  MONOMORPH_KEEP_LOOP
  for (int choice = 0; choice < token.top_k; ++choice) {
    chosen = next_choice(token, bias, chosen);
    sum += chosen.score;
    if (token.lane != 0) continue;
    token.experts[choice] = chosen.expert;
    token.weights[choice] = chosen.score;
  }
  if (!normalize || token.lane != 0) return;
  MONOMORPH_KEEP_LOOP
  for (int choice = 0; choice < token.top_k; ++choice) token.weights[choice] /= sum + least_divisor<S>;
}

/// The gradient of a score: that of the balance loss, and that of the token's weights.
template <class S> struct ScoreGradient {
  S sum, mean;  ///< of the scores that the balance loss divides by, and of its gradient over them
  S weights_sum = 1, weights_mean = 0;  ///< the same of the chosen experts' scores and weights
  double per_factor;                    ///< the balance loss's coefficient times how often a token's mean counts

  __device__ S of_balance(const Routed<S>& routed, int expert) const {
    return static_cast<S>(per_factor * routed.balance_factor(expert));
  }
  __device__ ScoreGradient(const Routed<S>& routed, const Token<S>& token, bool is_softmax, bool normalize,
                           double balance)
      : sum(1), mean(0), per_factor(balance) {
    // Softmax subtracts the mean by itself.
    if (!is_softmax) {
      sum = token.sum_of([&](int expert) { return token.scores[expert]; }) + least_divisor<S>;
      mean = token.sum_of([&](int expert) { return of_balance(routed, expert) * token.scores[expert] / sum; });
    }
    if (!normalize) return;
    weights_sum = token.sum_of_chosen([&](int, int expert) { return token.scores[expert]; }) + least_divisor<S>;
    weights_mean = token.sum_of_chosen(
        [&](int choice, int expert) { return token.dweight(choice) * token.scores[expert] / weights_sum; });
  }
  __device__ S of(const Routed<S>& routed, const Token<S>& token, int expert) const {
    S gradient = (of_balance(routed, expert) - mean) / sum;
    MONOMORPH_KEEP_LOOP
    for (int choice = 0; choice < token.top_k; ++choice)
      if (token.experts[choice] == expert) gradient += (token.dweight(choice) - weights_mean) / weights_sum;
    return gradient;
  }
};

template <class S>
__global__ void __launch_bounds__(router_threads) choose_backward(Routed<S> routed, RouterScores scores, bool normalize,
                                                                  RouterLosses losses, const StepScalars* step) {
  if (token_of_warp() >= routed.tokens) return;
  const Token<S> token(routed, token_of_warp());
  const double of_mean = step->auxiliary_gradient_scale() / static_cast<double>(routed.tokens);
  const bool is_softmax = scores == RouterScores::softmax;
  const ScoreGradient<S> dscore(routed, token, is_softmax, normalize, losses.balance * of_mean);
  if (!is_softmax)
    return token.each_own(
        [&](int expert) { token.scores[expert] *= (1 - token.scores[expert]) * dscore.of(routed, token, expert); });
  const S dot = token.sum_of([&](int expert) { return dscore.of(routed, token, expert) * token.scores[expert]; });
  const S dlse = token.lse != nullptr ? static_cast<S>(2 * losses.z * of_mean) * *token.lse : S(0);
  token.each_own([&](int expert) { token.scores[expert] *= dscore.of(routed, token, expert) - dot + dlse; });
}

struct OfBlock {};

/// The losses of each block's tokens, which depend on how many tokens there are alone.
template <class S>
__global__ void __launch_bounds__(router_threads)
    sum_losses(Routed<S> routed, RouterScores scores, RouterLosses losses, double* of_blocks) {
  double sum = 0;
  for (std::int64_t i = token_of_warp(); i < routed.tokens; i += std::int64_t{gridDim.x} * router_warps) {
    const Token<S> token(routed, i);
    double balance = 0;
    S total = 0;
    token.each_own([&](int expert) {
      balance += routed.balance_factor(expert) * double{token.scores[expert]};
      total += token.scores[expert];
    });
    balance = joined_in_warp(balance, warp_lanes, Sum());
    total = joined_in_warp(total, warp_lanes, Sum()) + least_divisor<S>;
    if (scores == RouterScores::sigmoid) balance /= double{total};
    sum += losses.balance * balance;
    if (token.lse != nullptr) sum += losses.z * (double{*token.lse} * double{*token.lse});
  }
  const double total = joined_in_block<OfBlock>(threadIdx.x % warp_lanes == 0 ? sum : 0.0, Sum());
  if (threadIdx.x == 0) of_blocks[blockIdx.x] = total;
}

__global__ void __launch_bounds__(router_threads)
    add_losses(const double* of_blocks, int blocks, std::int64_t tokens, double* sum) {
  double own = 0;
  for (int block = static_cast<int>(threadIdx.x); block < blocks; block += router_threads) own += of_blocks[block];
  const double total = joined_in_block<OfBlock>(own, Sum());
  if (threadIdx.x == 0) *sum += total / static_cast<double>(tokens);
}

unsigned blocks_of_tokens(std::int64_t tokens) {
  return static_cast<unsigned>((tokens + router_warps - 1) / router_warps);
}

}  // namespace

void choose_experts(Queue queue, const Routing& routing, RouterScores scores, bool normalize, View bias) {
  const KernelSpan span(Work::elementwise, "choose_experts", queue.stream);
  in_compute_type(routing.scores_ME.dtype, [&]<class S>() {
    const auto start = [&]<class Bias>(const Bias* of_experts) {
      launch(choose<S, Bias>, {blocks_of_tokens(routing.tokens), router_threads}, queue, Routed<S>(routing), scores,
             normalize, of_experts);
    };
    if (!bias.present()) return start(static_cast<const S*>(nullptr));
    in_element_type(bias.dtype, [&]<class Bias>() { start(bias.as<const Bias>()); });
  });
}

void choose_experts_backward(Queue queue, const Routing& routing, RouterScores scores, bool normalize,
                             const RouterLosses& losses, const StepScalars* step) {
  const KernelSpan span(Work::elementwise, "choose_experts_backward", queue.stream);
  in_compute_type(routing.scores_ME.dtype, [&]<class S>() {
    launch(choose_backward<S>, {blocks_of_tokens(routing.tokens), router_threads}, queue, Routed<S>(routing), scores,
           normalize, losses, step);
  });
}

void add_router_loss(Queue queue, const Routing& routing, RouterScores scores, const RouterLosses& losses,
                     double* sum) {
  const KernelSpan span(Work::elementwise, "add_router_loss", queue.stream);
  constexpr unsigned most_blocks = 4 * multiprocessors_to_fill;
  const auto blocks = static_cast<unsigned>(smaller_of(blocks_of_tokens(routing.tokens), most_blocks));
  auto* const of_blocks = reinterpret_cast<double*>(workspace(queue, blocks * std::int64_t{sizeof(double)}));
  in_compute_type(routing.scores_ME.dtype, [&]<class S>() {
    launch(sum_losses<S>, {blocks, router_threads}, queue, Routed<S>(routing), scores, losses, of_blocks);
  });
  launch(add_losses, {1, router_threads}, queue, of_blocks, static_cast<int>(blocks), routing.tokens, sum);
}

}  // namespace monomorph::cuda
