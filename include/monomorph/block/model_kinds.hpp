#pragma once
#include <monomorph/block/stack.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/spec/encoder_spec.hpp>

/// The kinds of model in the tree (policy/model_kind.hpp). A kind of one's own looks like these.
namespace monomorph {

template <class R> struct DecoderBlock;
template <class R> struct TokenEmbedding;
template <class R> struct VocabularyHead;
template <class R> struct EmbeddingHead;
namespace rule {
template <class R> struct EmbeddingRules;  // rule/embedding_rules.hpp
}  // namespace rule

template <> struct ModelKind<DecoderSpec> {
  static constexpr ModelOutput output = ModelOutput::logits;
  static constexpr DecoderSpec trunk(const DecoderSpec& model) { return model; }
  template <class Blocks> using layers = Joined<Stack<Run<TokenEmbedding, 1>>, Blocks, Stack<Run<VocabularyHead, 1>>>;
};

template <> struct ModelKind<EncoderSpec> {
  static constexpr ModelOutput output = ModelOutput::embeddings;
  static constexpr DecoderSpec trunk(const EncoderSpec& model) { return model.trunk(); }
  template <class Blocks> using layers = Joined<Stack<Run<TokenEmbedding, 1>>, Blocks, Stack<Run<EmbeddingHead, 1>>>;
  static constexpr EmbeddingSpec embedding(const EncoderSpec& model) { return model.embedding(); }
  template <class R> using rules = rule::EmbeddingRules<R>;
};

/// The kinds from the time when there were no others. Fingerprints and facts do not name them, so that recipes keep
/// theirs.
template <class Spec>
inline constexpr bool kind_came_first = std::is_same_v<Spec, DecoderSpec> || std::is_same_v<Spec, EncoderSpec>;

/// The blocks: a recipe's `layers`, or n_layers decoder blocks.
template <class R>
inline constexpr auto layers_of = [] {
  if constexpr (requires { typename R::layers; })
    return typename R::layers{};
  else
    return Stack<Run<DecoderBlock, static_cast<int>(trunk_of<R>.n_layers.value)>>{};
}();

}  // namespace monomorph
