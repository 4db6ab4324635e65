#pragma once
#include <monomorph/core/spec_fields.hpp>
#include <monomorph/policy/axis.hpp>
#include <monomorph/spec/decoder_spec.hpp>
#include <monomorph/spec/embedding_spec.hpp>

namespace monomorph {

/// What the last layer of a model makes: logits of tokens, or an embedding of each text. An objective is over one of
/// them.
enum class ModelOutput { logits, embeddings };

/// What the type of a recipe's `model`, a spec listed by MONOMORPH_SPEC, says of such models. Specialised for
/// DecoderSpec and EncoderSpec, and in a file of one's own for another kind (docs/guides/add_a_kind_of_model.md):
///
///   static constexpr ModelOutput output;
///   static constexpr DecoderSpec trunk(const Spec&);  // sizes that blocks, plan and program know of every model
///   template <class Blocks> using layers;             // a Stack: the blocks, and what stands before and behind them
///
/// and, if it has some, `template <class R> using rules = RuleList<…>`, judged after all values. A kind whose last
/// layer is EmbeddingHead may say how that makes embeddings of tokens:
///
///   static constexpr EmbeddingSpec embedding(const Spec&);
///
template <class Spec> struct ModelKind;

/// The type of a recipe's model, which says of what kind it is.
template <class R> using SpecOf = std::remove_cvref_t<decltype(R::model)>;
template <class R> inline constexpr bool makes_embeddings = ModelKind<SpecOf<R>>::output == ModelOutput::embeddings;
/// The sizes that models of every kind have.
template <class R> inline constexpr DecoderSpec trunk_of = ModelKind<SpecOf<R>>::trunk(R::model);
/// How EmbeddingHead makes embeddings: as the kind says, or as an EmbeddingSpec does where nothing is given.
template <class R>
inline constexpr EmbeddingSpec embedding_of = [] {
  if constexpr (requires { ModelKind<SpecOf<R>>::embedding(R::model); })
    return ModelKind<SpecOf<R>>::embedding(R::model);
  else
    return EmbeddingSpec{};
}();

MONOMORPH_LOOK_UPS(LookUpKind, embedding);

namespace detail {
template <class Spec> concept HasModelKind = DescribedSpec<Spec> && requires { sizeof(ModelKind<Spec>); };
}  // namespace detail

/// ModelKind<Spec> has the parts that readers of a model ask for. That `layers` are right is for rule/kind_rules.hpp.
template <class Spec> struct ModelKindParts {
  using Kind = ModelKind<Spec>;
  static constexpr bool output = requires {
    requires std::is_same_v<decltype(&Kind::output), const ModelOutput*>;
    typename Constant<Kind::output>;
  };
  static constexpr bool trunk = requires(const Spec& spec) {
    requires std::is_same_v<decltype(Kind::trunk(spec)), DecoderSpec>;
  };
  static constexpr bool is_base = !std::is_final_v<Kind>;
  static constexpr bool embedding = !LookUpKind::has_embedding<Kind> || requires(const Spec& spec) {
    requires std::is_same_v<decltype(Kind::embedding(spec)), EmbeddingSpec>;
  };
  static constexpr bool all_hold = output && trunk && is_base && embedding;
  static consteval void explain() {
    static_assert(output,
                  "[KIND-01] a kind of model must have `static constexpr monomorph::ModelOutput output`: whether its "
                  "last layer makes logits or embeddings (docs/rules.md#kind-01)");
    static_assert(trunk,
                  "[KIND-01] a kind of model must have `static constexpr monomorph::DecoderSpec trunk(const Spec&)`: "
                  "the sizes of its blocks, vocabulary and context (docs/rules.md#kind-01)");
    static_assert(is_base,
                  "[RECIPE-11] a kind of model must be a type that is not final, as its rules are looked up in a type "
                  "that derives from it; leave out `final` (docs/rules.md#recipe-11)");
    static_assert(embedding,
                  "[KIND-01] `embedding` of a kind of model, if it has one, must be `static constexpr "
                  "monomorph::EmbeddingSpec embedding(const Spec&)`: how its head makes embeddings "
                  "(docs/rules.md#kind-01)");
  }
};

}  // namespace monomorph
