#pragma once
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/block/embedding_head.hpp>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/block/vocabulary_head.hpp>
#include <type_traits>

namespace monomorph {

/// All layers of a recipe's model, from the first to the last.
template <class R>
using LayersOf = typename ModelKind<SpecOf<R>>::template layers<std::remove_const_t<decltype(layers_of<R>)>>;

namespace detail {
template <class R, class First, class... Runs>
auto first_layer(const Stack<First, Runs...>&) -> typename First::template block<R>;
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

template <class R> using FirstLayer = decltype(detail::first_layer<R>(LayersOf<R>{}));
template <class R> using LastLayer = decltype(detail::last_layer<R>(LayersOf<R>{}));

/// Calls f(Layer<R>{}) with the type of layer i. The plan and the step walk the layers with it.
template <class R> constexpr void with_layer(int i, auto&& f) { detail::with_layer_of<R>(i, f, LayersOf<R>::runs); }

}  // namespace monomorph
