#pragma once
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/attention_rules.hpp>
#include <monomorph/rule/operands.hpp>

/// Rules about models that make embeddings, and about what an objective needs of a model.
namespace monomorph::rule {

template <class Objective, bool makes_embeddings, bool over_embeddings> struct EmbeddingsHaveObjective {
  static constexpr bool holds = !makes_embeddings || over_embeddings;
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-01] a model that makes embeddings must have an objective over embeddings, as it makes no "
                  "logits of tokens; write `using objective = monomorph::objective::ContrastivePairs;`, or change "
                  "model to a kind that makes logits, such as a DecoderSpec (docs/rules.md#enc-01)");
  }
};
template <class Objective, bool makes_embeddings, bool over_embeddings> struct ObjectiveHasEmbeddings {
  static constexpr bool holds = makes_embeddings || !over_embeddings;
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-02] an objective over embeddings must have a model that makes them, and this one makes logits; "
                  "write `static constexpr monomorph::EncoderSpec model{...};`, or change objective "
                  "(docs/rules.md#enc-02)");
  }
};
template <class Attention, bool makes_embeddings, bool within_documents> struct TextsAreKeptApart {
  static constexpr bool holds = !makes_embeddings || within_documents;
  static consteval void explain() {
    static_assert(
        holds,
        "[ENC-03] the attention of a model that makes embeddings must keep within documents, or a text would "
        "see the others of its sample; change attention, e.g. to PerDocument<Bidirectional> (docs/rules.md#enc-03)");
  }
};
template <class R, Pooling pooling, bool sees_behind> struct PooledTokensSeeText {
  static constexpr bool holds = pooling == Pooling::last || sees_behind;
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-04] some layer of a model that makes embeddings must attend to tokens behind a token unless "
                  "pooling is last, as no other token would see all of its text; change attention, e.g. to "
                  "PerDocument<Bidirectional>, or the model's pooling (docs/rules.md#enc-04)");
  }
};
template <std::int64_t features> struct EmbeddingWidthInRange {
  static constexpr bool holds = is_count(features);
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-05] the features of an embedding must lie in 1..16777216 where they are given; change "
                  "EncoderSpec::d_embedding, or what embedding() of the kind of model returns, or leave them out "
                  "(docs/rules.md#enc-05)");
  }
};
template <std::int64_t logits_millionths, bool makes_embeddings> struct CappedLogitsAreMade {
  static constexpr bool is_cap = million / 1000 <= logits_millionths && logits_millionths < beyond_millionths;
  static constexpr bool holds = !makes_embeddings || !is_cap;  // others are MODEL-19's
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-06] soft_cap.logits must be 0 in a model that makes embeddings, which has no logits to cap; "
                  "leave it out, or change model to a kind that makes logits, such as a DecoderSpec "
                  "(docs/rules.md#enc-06)");
  }
};
template <class Objective, class Attention, bool over_sequences, bool within_documents> struct SequencesAreKeptApart {
  static constexpr bool holds = !over_sequences || within_documents;
  static consteval void explain() {
    static_assert(holds,
                  "[OBJ-09] the attention of a recipe whose objective is over sequences must keep within documents, or "
                  "a sequence would see the others of its sample; change attention, e.g. to PerDocument<Causal> "
                  "(docs/rules.md#obj-09)");
  }
};

template <class Objective, bool over_sequences, bool drops_tokens> struct SequencesLoseNoToken {
  static constexpr bool holds = !over_sequences || !drops_tokens;
  static consteval void explain() {
    static_assert(holds,
                  "[OBJ-10] no expert may have a capacity in a recipe whose objective is over sequences, or padding of "
                  "one sample would take the places of another's tokens and change how probable they are; leave "
                  "MixtureSpec::capacity_factor out (docs/rules.md#obj-10)");
  }
};

template <class Block> constexpr bool drops_tokens() {
  if constexpr (requires { Block::MlpPart::is_dropless; })
    return !Block::MlpPart::is_dropless;
  else
    return false;
}
template <class R, class... Runs> constexpr bool some_block_drops_tokens(Stack<Runs...>) {
  return (drops_tokens<typename Runs::template block<R>>() || ...);
}

/// That an objective fits what the model makes.
template <class R> consteval auto output_rules() {
  using Objective = objective_of<R>;
  using Attention = attention_of<R>;
  constexpr bool is_given = makes_embeddings<R>, is_wanted = is_over_embeddings<Objective>;
  return RuleList<
      EmbeddingsHaveObjective<Objective, is_given, is_wanted>, ObjectiveHasEmbeddings<Objective, is_given, is_wanted>,
      TextsAreKeptApart<Attention, is_given, bool{Attention::within_documents}>,
      CappedLogitsAreMade<millionths_up(trunk_of<R>.soft_cap.logits), is_given>,
      SequencesAreKeptApart<Objective, Attention, is_over_sequences<Objective>, bool{Attention::within_documents}>,
      SequencesLoseNoToken<Objective, is_over_sequences<Objective>, some_block_drops_tokens<R>(layers_of<R>)>>{};
}

/// What EmbeddingHead brings.
template <class R>
struct EmbeddingRules : RuleList<EmbeddingWidthInRange<embedding_of<R>.features.value_or(1)>,
                                 PooledTokensSeeText<R, embedding_of<R>.pooling, some_block_sees_behind<R>>> {};

}  // namespace monomorph::rule
