#pragma once
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/block/embedding_head.hpp>
#include <monomorph/block/stack.hpp>
#include <monomorph/block/vocabulary_head.hpp>
#include <type_traits>

namespace monomorph {

namespace detail {
template <template <class> class First, class Blocks, template <class> class Last> struct Between;
template <template <class> class First, class... Runs, template <class> class Last>
struct Between<First, const Stack<Runs...>, Last> {
  using type = Stack<Run<First, 1>, Runs..., Run<Last, 1>>;
};
}  // namespace detail

/// What the type of a recipe's `model` says: the layers of such a model, from the first to the last, around a stack of
/// blocks.
template <class Spec> struct ModelKind;
template <> struct ModelKind<DecoderSpec> {
  template <class Blocks> using layers = typename detail::Between<TokenEmbedding, Blocks, VocabularyHead>::type;
};
template <> struct ModelKind<EncoderSpec> {
  template <class Blocks> using layers = typename detail::Between<TokenEmbedding, Blocks, EmbeddingHead>::type;
};

/// All layers of a recipe's model.
template <class R>
using LayersOf = typename ModelKind<std::remove_cvref_t<decltype(R::model)>>::template layers<decltype(layers_of<R>)>;

namespace detail {
template <class R, class... Runs>
auto last_layer(const Stack<Runs...>&) -> typename decltype((std::type_identity<Runs>{}, ...))::type::template block<R>;
template <class R, class F, class... Runs>
constexpr void with_layer_of(int i, F& f, const boost::hana::tuple<Runs...>&) {
  int first = 0;
  const auto call_if_in = [&]<class Run>() {
    if (first <= i && i < first + Run::length) f(typename Run::template block<R>{});
    first += Run::length;
  };
  (call_if_in.template operator()<Runs>(), ...);
}
}  // namespace detail

template <class R> using LastLayer = decltype(detail::last_layer<R>(LayersOf<R>{}));

/// Calls f(Layer<R>{}) with the type of layer i. The plan and the step walk the layers with it.
template <class R> constexpr void with_layer(int i, auto&& f) { detail::with_layer_of<R>(i, f, LayersOf<R>::runs); }

}  // namespace monomorph
