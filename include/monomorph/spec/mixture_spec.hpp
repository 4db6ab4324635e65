#pragma once
#include <cstdint>
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/derived.hpp>
#include <monomorph/core/required.hpp>
#include <monomorph/core/spec_fields.hpp>

namespace monomorph {

inline constexpr int most_experts = 1024;

/// What a router makes of its logits.
enum class RouterScores {
  softmax,  ///< over all experts (Shazeer et al. 2017)
  sigmoid,  ///< of each expert alone (DeepSeek-V3, section 2.1.2)
};

/// A mixture of experts in the place of an MLP. Required fields first.
struct MixtureSpec {
  Required<int> n_experts{};
  Required<int> top_k{};              ///< experts that a token goes to: those of the highest scores
  Derived<std::int64_t> d_expert{};   ///< hidden width of an expert: the model's d_ff unless given
  Derived<double> capacity_factor{};  ///< an expert takes so many times the mean of tokens, the first ones; dropless,
                                      ///< every one, unless given
  Defaulted<int> n_shared = 0;        ///< experts that every token goes to, computed as one of so many times the width
  Defaulted<RouterScores> scores = RouterScores::softmax;
  Defaulted<bool> normalize = true;  ///< the scores of a token's experts are divided by their sum to be their weights

  /// Auxiliary losses, added to the loss with these coefficients, for each layer.
  Defaulted<double> balance_loss = 0;  ///< n_experts Σ (tokens of an expert / tokens) (its mean score) (Fedus et al.
                                       ///< 2021, equation 4, for top_k experts)
  Defaulted<double> z_loss = 0;        ///< mean squared log-sum-exp of the logits (Zoph et al. 2022, equation 5)

  /// Balance without a loss: a bias of each expert, which only chooses, moves by so much after a step, up if the expert
  /// had fewer tokens than the mean, and down if it had more (Wang et al. 2024, algorithm 1). 0: there is no bias.
  Defaulted<double> bias_rate = 0;

  friend constexpr bool operator==(const MixtureSpec&, const MixtureSpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::MixtureSpec, n_experts, top_k, d_expert, capacity_factor, n_shared, scores, normalize,
               balance_loss, z_loss, bias_rate);
