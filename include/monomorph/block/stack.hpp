#pragma once
#include <boost/hana/tuple.hpp>

namespace monomorph {

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

namespace detail {
template <class Before, class Blocks, class Behind> struct Joined;
template <class... Before, class... Runs, class... Behind>
struct Joined<Stack<Before...>, Stack<Runs...>, Stack<Behind...>> {
  using type = Stack<Before..., Runs..., Behind...>;
};
}  // namespace detail

/// The layers of a model: those before its blocks, the blocks, and those behind them.
template <class Before, class Blocks, class Behind>
using Joined = typename detail::Joined<Before, Blocks, Behind>::type;

}  // namespace monomorph
