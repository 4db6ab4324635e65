#include <monomorph/runtime/kernels/routing.hpp>

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include "runtime/kernels/dtypes.hpp"
#include "runtime/machine/isa.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace monomorph::cpu {
MONOMORPH_PER_ISA(void combine_rows(View rows_ND, const std::int32_t* rows_Mk, std::int64_t top_k, View weights_Mk,
                                    View residual, View y))
MONOMORPH_PER_ISA(void weigh_rows_backward(View a, View d, const std::int32_t* pairs_N, std::int64_t n_rows,
                                           View weights_Mk))
namespace {

void combine(const Routing& routing, View rows_ND, View weights_Mk, View residual_MD, View y_MD) {
  MONOMORPH_SELECT(combine_rows)(rows_ND, routing.rows_Mk, routing.top_k, weights_Mk, residual_MD, y_MD);
}
void weigh_backward(const Routing& routing, View a_NF, View d_NF) {
  MONOMORPH_SELECT(weigh_rows_backward)(a_NF, d_NF, routing.pairs_N, routing.n_rows(), routing.weights_Mk);
}

constexpr std::int64_t tokens_per_task = 64;

/// Calls f(first token, end) in tasks.
void for_tokens(std::int64_t tokens, auto&& f) {
  parallel_for((tokens + tokens_per_task - 1) / tokens_per_task,
               [&](std::int64_t task) { f(task * tokens_per_task, std::min((task + 1) * tokens_per_task, tokens)); });
}

/// What one token has in a routing.
template <class S> struct Token {
  std::span<S> scores, weights;
  std::span<std::int32_t> experts;
  std::int32_t* rows;
  S* lse;
  Token(const Routing& routing, std::int64_t token)
      : scores(routing.scores_ME.as<S>() + token * routing.n_experts, static_cast<std::size_t>(routing.n_experts)),
        weights(routing.weights_Mk.as<S>() + token * routing.top_k, static_cast<std::size_t>(routing.top_k)),
        experts(routing.experts_Mk + token * routing.top_k, static_cast<std::size_t>(routing.top_k)),
        rows(routing.rows_Mk + token * routing.top_k),
        lse(routing.lse_M.present() ? routing.lse_M.as<S>() + token : nullptr) {}
};

template <class S> S sum_of(std::span<const S> values) {
  S sum = 0;
  for (const S value : values) sum += value;
  return sum;
}
/// A sum of scores to divide by: sigmoids may all be zero.
template <class S> S divisor(std::span<const S> scores) { return sum_of(scores) + S{1e-20}; }

template <class S> void softmax(const Token<S>& token) {
  const S greatest = *std::ranges::max_element(token.scores);
  S sum = 0;
  for (S& score : token.scores) sum += score = std::exp(score - greatest);
  for (S& score : token.scores) score /= sum;
  if (token.lse != nullptr) *token.lse = greatest + std::log(sum);
}

/// The k experts of the highest scores plus biases, in descending order; of equal ones the first.
template <class S> void choose(const Token<S>& token, const S* bias) {
  std::array<bool, most_experts> chosen{};
  for (std::int32_t& expert : token.experts) {
    std::int32_t best = -1;
    S best_key = 0;
    for (std::int32_t e = 0; e < std::ssize(token.scores); ++e) {
      const S key = token.scores[e] + (bias != nullptr ? bias[e] : S{0});
      if (!chosen[e] && (best < 0 || key > best_key)) best = e, best_key = key;
    }
    chosen[best] = true;
    expert = best;
  }
}

template <class S> void weigh(const Token<S>& token, bool normalize) {
  for (std::size_t j = 0; j < token.experts.size(); ++j) token.weights[j] = token.scores[token.experts[j]];
  if (!normalize) return;
  const S sum = divisor(std::span<const S>(token.weights));
  for (S& weight : token.weights) weight /= sum;
}

/// From gradients of the weights to those of the scores, to which it adds.
template <class S> void weigh_backward(const Token<S>& token, bool normalize, S* dscores) {
  const std::size_t k = token.experts.size();
  const auto dweight = [&](std::size_t j) { return token.rows[j] < 0 ? S{0} : token.weights[j]; };
  S sum = 1, mean = 0;
  if (normalize) {
    sum = S{1e-20};
    for (std::size_t j = 0; j < k; ++j) sum += token.scores[token.experts[j]];
    for (std::size_t j = 0; j < k; ++j) mean += dweight(j) * token.scores[token.experts[j]] / sum;
  }
  for (std::size_t j = 0; j < k; ++j) dscores[token.experts[j]] += (dweight(j) - mean) / sum;
}

/// What a unit of an expert's mean score adds to the balance loss: E times the part of the tokens that chose it.
double balance_factor(const Routing& routing, std::int64_t expert) {
  return static_cast<double>(routing.n_experts) * routing.counts_E[expert] / static_cast<double>(routing.tokens);
}

}  // namespace

void choose_experts(Queue queue, const Routing& routing, RouterScores scores, bool normalize, View bias_E) {
  const KernelSpan span(Work::elementwise, "choose_experts");
  in_compute_type(routing.scores_ME.dtype, [&]<class S>() {
    std::array<S, most_experts> bias;
    const View widened(reinterpret_cast<std::byte*>(bias.data()), routing.scores_ME.dtype, {1, routing.n_experts});
    if (bias_E.present()) copy(queue, bias_E, widened);
    for_tokens(routing.tokens, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t m = first; m < end; ++m) {
        const Token<S> token(routing, m);
        if (scores == RouterScores::softmax)
          softmax(token);
        else
          for (S& score : token.scores) score = 1 / (1 + std::exp(-score));
        choose(token, bias_E.present() ? bias.data() : nullptr);
        weigh(token, normalize);
      }
    });
  });
}

void sort_pairs(Queue, const Routing& routing, std::int64_t capacity) {
  const KernelSpan span(Work::elementwise, "sort_pairs");
  const std::int64_t n_pairs = routing.tokens * routing.top_k, E = routing.n_experts;
  std::fill_n(routing.counts_E, E, 0);
  for (std::int64_t pair = 0; pair < n_pairs; ++pair) ++routing.counts_E[routing.experts_Mk[pair]];
  std::array<std::int32_t, most_experts> next;  // row of each expert
  routing.begins_E[0] = 0;
  for (std::int64_t e = 0; e < E; ++e) {
    next[e] = routing.begins_E[e];
    routing.begins_E[e + 1] =
        next[e] + static_cast<std::int32_t>(std::min<std::int64_t>(routing.counts_E[e], capacity));
  }
  for (std::int64_t pair = 0; pair < n_pairs; ++pair) {
    const std::int32_t e = routing.experts_Mk[pair];
    const bool has_room = next[e] < routing.begins_E[e + 1];
    routing.rows_Mk[pair] = has_room ? next[e] : -1;
    if (has_room) routing.pairs_N[next[e]++] = static_cast<std::int32_t>(pair);
  }
}

void add_loads(Queue, const Routing& routing, std::int64_t* loads_E) {
  const KernelSpan span(Work::elementwise, "add_loads");
  for (std::int64_t e = 0; e < routing.n_experts; ++e) loads_E[e] += routing.counts_E[e];
}

void add_router_loss(Queue, const Routing& routing, RouterScores scores, const RouterLosses& losses, double* sum) {
  const KernelSpan span(Work::elementwise, "add_router_loss");
  double balance = 0, z = 0;
  in_compute_type(routing.scores_ME.dtype, [&]<class S>() {
    for (std::int64_t m = 0; m < routing.tokens; ++m) {
      const Token<S> token(routing, m);
      double of_token = 0;
      for (std::int64_t e = 0; e < routing.n_experts; ++e) of_token += balance_factor(routing, e) * token.scores[e];
      balance += scores == RouterScores::softmax ? of_token : of_token / divisor(std::span<const S>(token.scores));
      if (token.lse != nullptr) z += static_cast<double>(*token.lse) * *token.lse;
    }
  });
  *sum += (losses.balance * balance + losses.z * z) / static_cast<double>(routing.tokens);
}

void choose_experts_backward(Queue, const Routing& routing, RouterScores scores, bool normalize,
                             const RouterLosses& losses, const StepScalars* step) {
  const KernelSpan span(Work::elementwise, "choose_experts_backward");
  const double of_mean = step->auxiliary_gradient_scale() / static_cast<double>(routing.tokens);
  in_compute_type(routing.scores_ME.dtype, [&]<class S>() {
    std::array<S, most_experts> dbalance{};  // of each token's scores, or of those divided by their sum
    for (std::int64_t e = 0; e < routing.n_experts; ++e)
      dbalance[e] = static_cast<S>(losses.balance * of_mean * balance_factor(routing, e));
    for_tokens(routing.tokens, [&](std::int64_t first, std::int64_t end) {
      for (std::int64_t m = first; m < end; ++m) {
        const Token<S> token(routing, m);
        const bool is_softmax = scores == RouterScores::softmax;
        std::array<S, most_experts> dscores;
        const S sum = is_softmax ? S{1} : divisor(std::span<const S>(token.scores));
        S mean = 0;  // of dbalance over the scores, which softmax subtracts by itself
        if (!is_softmax)
          for (std::int64_t e = 0; e < routing.n_experts; ++e) mean += dbalance[e] * token.scores[e] / sum;
        for (std::int64_t e = 0; e < routing.n_experts; ++e) dscores[e] = (dbalance[e] - mean) / sum;
        weigh_backward(token, normalize, dscores.data());
        if (is_softmax) {
          S dot = 0;
          for (std::int64_t e = 0; e < routing.n_experts; ++e) dot += dscores[e] * token.scores[e];
          const S dlse = token.lse != nullptr ? static_cast<S>(2 * losses.z * of_mean) * *token.lse : S{0};
          for (std::int64_t e = 0; e < routing.n_experts; ++e) token.scores[e] *= dscores[e] - dot + dlse;
        } else {
          for (std::int64_t e = 0; e < routing.n_experts; ++e) token.scores[e] *= (1 - token.scores[e]) * dscores[e];
        }
      }
    });
  });
}

void gather_rows(Queue, View x_MD, const Routing& routing, View rows_ND) {
  const KernelSpan span(Work::elementwise, "gather_rows");
  const std::size_t bytes = static_cast<std::size_t>(x_MD.shape.cols * size_of(x_MD.dtype));
  const auto row_of = [](const View& view, std::int64_t row) { return view.rows(row, 1).data; };
  for_tokens(routing.n_rows(), [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t row = first; row < end; ++row)
      std::memcpy(row_of(rows_ND, row), row_of(x_MD, routing.pairs_N[row] / routing.top_k), bytes);
  });
}

void combine_rows(Queue, View rows_ND, const Routing& routing, View weights_Mk, View residual_MD, View y_MD) {
  const KernelSpan span(Work::elementwise, "combine_rows");
  combine(routing, rows_ND, weights_Mk, residual_MD, y_MD);
}

void weigh_rows_backward(Queue, View a_NF, View d_NF, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "weigh_rows_backward");
  weigh_backward(routing, a_NF, d_NF);
}

void balance_biases(Queue queue, const ElementUpdate& run, std::int64_t first, const std::int64_t* loads,
                    std::int64_t n_experts, double rate, const UpdateTerms& terms) {
  const KernelSpan span(Work::optimizer, "balance_biases");
  if (!terms.decision->applies) return;
  std::int64_t total = 0;
  for (std::int64_t e = 0; e < n_experts; ++e) total += loads[e];
  std::array<float, most_experts> signs{};
  for (std::int64_t e = 0; e < n_experts; ++e) {
    const std::int64_t all = loads[e] * n_experts;
    signs[e] = static_cast<float>((total > all) - (total < all));
  }
  zero(queue, run.gradient);
  const std::int64_t from_run = static_cast<std::int64_t>(run.first) - first;  // the expert with which the run begins
  const std::int64_t begin = std::max(from_run, std::int64_t{0}),
                     end = std::min(from_run + run.gradient.elements(), n_experts);
  if (begin < end)
    copy(queue, View(reinterpret_cast<std::byte*>(signs.data() + begin), DType::fp32, {1, end - begin}),
         run.gradient.columns(begin - from_run, end - begin));
  const UpdateDecision as_it_is{.update = terms.decision->update};
  each_element<0>(queue, run, {.decision = &as_it_is}, [rate](auto sign, auto& bias) {
    bias += static_cast<std::remove_reference_t<decltype(bias)>>(rate) * sign;
  });
}

}  // namespace monomorph::cpu
