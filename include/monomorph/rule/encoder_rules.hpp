#pragma once
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/attention_rules.hpp>
#include <monomorph/rule/operands.hpp>

/// Rules about models that make embeddings, and about what an objective needs of a model.
namespace monomorph::rule {

template <class Objective, bool is_encoder, bool over_embeddings> struct EncoderHasObjective {
  static constexpr bool holds = !is_encoder || over_embeddings;
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-01] an EncoderSpec must have an objective over embeddings, as it makes no logits of tokens; "
                  "write `using objective = monomorph::objective::ContrastivePairs;`, or give model as a DecoderSpec "
                  "(docs/rules.md#enc-01)");
  }
};
template <class Objective, bool is_encoder, bool over_embeddings> struct EmbeddingsHaveEncoder {
  static constexpr bool holds = is_encoder || !over_embeddings;
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-02] an objective over embeddings must have an EncoderSpec, as nothing else makes embeddings; "
                  "write `static constexpr monomorph::EncoderSpec model{...};`, or change objective "
                  "(docs/rules.md#enc-02)");
  }
};
template <class Attention, bool is_encoder, bool within_documents> struct TextsAreKeptApart {
  static constexpr bool holds = !is_encoder || within_documents;
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-03] the attention of an encoder must keep within documents, or a text would see the others of "
                  "its sample; change attention, e.g. to PerDocument<Bidirectional> (docs/rules.md#enc-03)");
  }
};
template <class R, Pooling pooling, bool sees_behind> struct PooledTokensSeeText {
  static constexpr bool holds = pooling == Pooling::last || sees_behind;
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-04] some layer of an encoder must attend to tokens behind a token unless pooling is last, as "
                  "no other token would see all of its text; change attention, e.g. to PerDocument<Bidirectional>, or "
                  "EncoderSpec::pooling (docs/rules.md#enc-04)");
  }
};
template <std::int64_t d_embedding> struct EmbeddingWidthInRange {
  static constexpr bool holds = is_count(d_embedding);
  static consteval void explain() {
    static_assert(holds,
                  "[ENC-05] d_embedding must lie in 1..16777216 where it is given; change EncoderSpec::d_embedding, "
                  "or leave it out (docs/rules.md#enc-05)");
  }
};

/// That an objective fits what the model makes.
template <class R> consteval auto output_rules() {
  using Objective = objective_of<R>;
  using Attention = attention_of<R>;
  return RuleList<EncoderHasObjective<Objective, makes_embeddings<R>, is_over_embeddings<Objective>>,
                  EmbeddingsHaveEncoder<Objective, makes_embeddings<R>, is_over_embeddings<Objective>>,
                  TextsAreKeptApart<Attention, makes_embeddings<R>, bool{Attention::within_documents}>>{};
}

/// What an EncoderSpec brings.
template <class R>
struct EncoderRules : RuleList<EmbeddingWidthInRange<R::model.d_embedding.value_or(1)>,
                               PooledTokensSeeText<R, R::model.pooling, some_block_sees_behind<R>>> {};

}  // namespace monomorph::rule
