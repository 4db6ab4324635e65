#pragma once
#include <boost/hana/tuple.hpp>

namespace monomorph {

template <class R> struct DecoderBlock;

/// n equal blocks: one type in a loop.
template <template <class R> class Block, int n> struct Run {
  static constexpr int length = n;
  template <class R> using block = Block<R>;
};

/// Layers, as a tuple of runs and not of blocks: compile time follows the kinds of block, not the depth.
template <class... Runs> struct Stack {
  static constexpr int length = (Runs::length + ... + 0);
  static constexpr boost::hana::tuple<Runs...> runs{};
};

/// The blocks: a recipe's `layers`, or n_layers decoder blocks.
template <class R>
inline constexpr auto layers_of = [] {
  if constexpr (requires { typename R::layers; })
    return typename R::layers{};
  else
    return Stack<Run<DecoderBlock, static_cast<int>(R::model.n_layers.value)>>{};
}();

}  // namespace monomorph
