#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/objective/next_token.hpp>
#include <monomorph/policy/model_kind.hpp>

namespace monomorph::objective {

struct MaskedTokensHparams : NextTokenHparams {
  Field<double> mask_fraction{0.3, 1e-6, 1.0, "share of the counted tokens that is selected, to be predicted"};
  Field<double> random_fraction{0.1, 0.0, 0.5,
                                "share of the selected in whose place stands any token of the vocabulary"};
  Field<double> kept_fraction{0.1, 0.0, 0.5,
                              "share of the selected that stands in its place; for the rest, mask_token"};
};

template <std::int64_t mask_token, std::int64_t vocab_size> struct MaskTokenInVocabulary {
  static constexpr bool holds = 0 <= mask_token && (mask_token < vocab_size || vocab_size < 1);
  static consteval void explain() {
    static_assert(holds,
                  "[OBJ-04] the mask token of MaskedTokens<id> must be a token of the vocabulary, in 0..vocab_size - "
                  "1; change id, or vocab_size (docs/rules.md#obj-04)");
  }
};

/// Cross-entropy of selected tokens, which the model sees as mask_token, as another token or as they are, from the
/// tokens on both sides of them (Devlin et al. 2018, section 3.1), averaged over the selected tokens of the whole
/// global batch. Each counted token is selected by itself with the same probability, those that end texts like all
/// others; one that is mask_token already is not. A sample of which none is selected counts for nothing.
template <int mask_token> struct MaskedTokens {
  using Hparams = MaskedTokensHparams;
  static constexpr bool predicts_next_token = false;
  template <class R> using rules = RuleList<MaskTokenInVocabulary<mask_token, trunk_of<R>.vocab_size.value>>;

  static void prepare(const Sample& sample, const Hparams& hparams) {
    constexpr double of_word = 1.0 / 4'294'967'296.0;
    const double random_share = hparams.random_fraction, changed_share = 1 - hparams.kept_fraction;
    for (std::int64_t t = 0; t < sample.T; ++t) {
      std::int32_t &input = sample.inputs_T[t], &target = sample.targets_T[t];
      const auto words = sample.random(t);
      const bool may_be_selected = target != ignored_target && target != mask_token;
      if (!may_be_selected || words[0] * of_word >= hparams.mask_fraction) {
        target = ignored_target;
        continue;
      }
      const double share = words[1] * of_word;
      if (share < random_share)
        input =
            static_cast<std::int32_t>(std::uint64_t{words[2]} * static_cast<std::uint64_t>(sample.vocab_size) >> 32);
      else if (share < changed_share)
        input = mask_token;
    }
  }

  template <class Queue> static auto loss(Queue queue, const auto& logits, const Hparams& hparams) {
    return NextToken::loss(queue, logits, hparams);  // a selected token's target is itself, else it is the same
  }
};

}  // namespace monomorph::objective

extern template void monomorph::append_fields(monomorph::objective::MaskedTokensHparams&, FieldList&);
