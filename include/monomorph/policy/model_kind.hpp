#pragma once
#include <monomorph/core/spec_fields.hpp>
#include <monomorph/policy/axis.hpp>
#include <monomorph/spec/decoder_spec.hpp>

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
/// and, if it has some, `template <class R> using rules = RuleList<…>`, judged after all values.
template <class Spec> struct ModelKind;

/// The type of a recipe's model, which says of what kind it is.
template <class R> using SpecOf = std::remove_cvref_t<decltype(R::model)>;
template <class R> inline constexpr bool makes_embeddings = ModelKind<SpecOf<R>>::output == ModelOutput::embeddings;
/// The sizes that models of every kind have.
template <class R> inline constexpr DecoderSpec trunk_of = ModelKind<SpecOf<R>>::trunk(R::model);

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
  static constexpr bool all_hold = output && trunk && is_base;
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
  }
};

}  // namespace monomorph
