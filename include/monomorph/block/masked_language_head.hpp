#pragma once
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/block/vocabulary_head.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/spec/masked_language_spec.hpp>

/// The kind of model MaskedLanguageSpec and its layers. A recipe of it includes model/masked_language_head.hpp, which
/// has their bodies, too.
namespace monomorph {

inline constexpr NormNames hidden_norm_names{"hidden_norm.weight", "hidden_norm.bias"};

/// The first layer, with the bias of logits beside the table that makes them.
template <class R> struct MaskedLanguageEmbedding : TokenEmbedding<R> {
  struct Params : TokenEmbedding<R>::Params {
    Slice logit_bias_V;
    constexpr explicit Params(int block = 0)
        : TokenEmbedding<R>::Params(block), logit_bias_V(this->take({1, trunk_of<R>.padded_vocab()})) {
      this->add_bias_part("head.bias", logit_bias_V, 0, trunk_of<R>.vocab_size);
    }
  };
};

/// y = activation(W norm(x) + b) of each token: the final norm of the blocks, and BERT's transform. Of MLPs with a gate
/// it has the activation without one, GELU, as ModernBERT has it.
template <class R> struct MaskedLanguageTransform {
  static constexpr const auto& model = trunk_of<R>;
  static constexpr UnitKind unit_kind = UnitKind::head;
  static constexpr std::int64_t D = model.d_model;
  static constexpr Activation activation = model.activation == Activation::geglu_tanh ? Activation::gelu_tanh
                                           : is_gated(model.activation)               ? Activation::gelu_exact
                                                                                      : model.activation.value;

  struct Params : ParameterLayout {
    NormParams norm;
    Slice weight_DxD, bias_D;
    constexpr explicit Params(int = 0) : norm(*this, model.norm, hidden_norm_names, D) {
      weight_DxD = take_tensor("transform.weight", {D, D}, ParameterClass::linear, initializers::matrix(model));
      bias_D = take_tensor("transform.bias", {1, D}, ParameterClass::bias, initializers::zero);
    }
  };
  struct Saved {
    NormStatistics norm;
    Slice normed_MD, h_MD;  ///< what the dense layer reads, whose place its gradient takes, and what it makes
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : norm(statistics, model.norm, {1, M}), normed_MD(activations.take({M, D})), h_MD(activations.take({M, D})) {}
  };
  using Temporary = Nothing;
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * D * D; }

  using DecodeCache = Nothing;
  struct DecodeTemporary {
    NormStatistics norm;
    Slice normed_BD, h_BD;
    constexpr DecodeTemporary(Layout& activations, Layout& statistics, std::int64_t B)
        : norm(statistics, model.norm, {1, B}), normed_BD(activations.take({B, D})), h_BD(activations.take({B, D})) {}
  };

  static void forward(const LayerTensors<R>& t, const Saved& saved);
  static void backward(const LayerTensors<R>& t, const Saved& saved);
  static void decode(const DecodeTensorsOf<R>& t);
};

/// The last layer: as VocabularyHead with a tied table, and a bias of each logit.
template <class R> struct MaskedLanguageHead : VocabularyHead<R> {
  static constexpr bool shares_first_unit = true;
  using Params = typename MaskedLanguageEmbedding<R>::Params;

  /// A product that is wider than its factors adds a bias as wide as itself.
  static constexpr bool widens_bias = narrows_gradient<R> && !rounds_logits<typename R::precision>;
  struct Saved : VocabularyHead<R>::Saved {
    Slice bias_V;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : VocabularyHead<R>::Saved(activations, statistics, M) {
      if (widens_bias) bias_V = statistics.take({1, trunk_of<R>.padded_vocab()});
    }
  };
  struct DecodeTemporary : VocabularyHead<R>::DecodeTemporary {
    Slice bias_V;
    constexpr DecodeTemporary(Layout& activations, Layout& statistics, std::int64_t B)
        : VocabularyHead<R>::DecodeTemporary(activations, statistics, B) {
      if (narrows_gradient<R>) bias_V = statistics.take({1, trunk_of<R>.padded_vocab()});
    }
  };

  /// In an evaluation: adds the loss to that of the micro-batch.
  static void forward(const LayerTensors<R>& t, const Saved& saved);
  /// Adds the loss to that of the micro-batch; makes dx_MD and the head's gradients.
  static void backward(const LayerTensors<R>& t, const Saved& saved);
  static void decode(const DecodeTensorsOf<R>& t);
};

namespace rule {
template <class Objective> struct MaskedHeadSeesTokens {
  static constexpr bool holds = !is_over_sequences<Objective>;
  static consteval void explain() {
    static_assert(holds,
                  "[KIND-08] the objective of a MaskedLanguageSpec must be one of tokens, such as "
                  "objective::MaskedTokens<id>, and not over sequences; change objective, or make the model a "
                  "DecoderSpec (docs/rules.md#kind-08)");
  }
};
}  // namespace rule

template <> struct ModelKind<MaskedLanguageSpec> {
  static constexpr ModelOutput output = ModelOutput::logits;
  static constexpr DecoderSpec trunk(const MaskedLanguageSpec& model) { return model.trunk; }
  template <class Blocks>
  using layers = Joined<Stack<Run<MaskedLanguageEmbedding, 1>>, Blocks,
                        Stack<Run<MaskedLanguageTransform, 1>, Run<MaskedLanguageHead, 1>>>;
  template <class R> using rules = RuleList<rule::MaskedHeadSeesTokens<objective_of<R>>>;
};

}  // namespace monomorph
