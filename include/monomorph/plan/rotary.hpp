#pragma once
#include <array>
#include <boost/hana/for_each.hpp>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/spec/layout.hpp>

/// Tables of rotary angles: layers that turn by the same angles share one.
namespace monomorph::plan {

namespace detail {

template <class R, class Block> constexpr const RotarySpec& rotary_of_block() {
  if constexpr (requires { typename Block::Tower; })
    return trunk_of<typename Block::Tower>.rotary;
  else
    return trunk_of<R>.rotary;
}

template <class... Runs> consteval std::size_t n_runs(const Stack<Runs...>&) { return sizeof...(Runs); }

/// What is computed once for a recipe: which angles there are, and which of them a block turns by.
template <class R> struct Rotaries {
  std::array<RotarySpec, 1 + n_runs(layers_of<R>)> of{};
  std::array<int, n_blocks<R>> of_block{};
  int n = 0;

  constexpr Rotaries() {
    number_of(trunk_of<R>.rotary);  // the model's own come first, whether a block turns by them or not
    int block = 0;
    boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
      const int number = number_of(rotary_of_block<R, typename decltype(run)::template block<R>>());
      for (int i = 0; i < run.length; ++i) of_block[static_cast<std::size_t>(block++)] = number;
    });
  }

 private:
  constexpr int number_of(const RotarySpec& rotary) {
    int i = 0;
    while (i < n && of[static_cast<std::size_t>(i)] != rotary) ++i;
    if (i == n) of[static_cast<std::size_t>(n++)] = rotary;
    return i;
  }
};
template <class R> inline constexpr Rotaries<R> rotaries{};

}  // namespace detail

template <class R>
inline constexpr int n_rotaries = trunk_of<R>.position == Position::rotary ? detail::rotaries<R>.n : 0;
/// The i-th of them.
template <class R> constexpr const RotarySpec& rotary_spec(int i) {
  return detail::rotaries<R>.of[static_cast<std::size_t>(i)];
}
/// By which a layer turns; 0 of one that turns nothing.
template <class R> constexpr int rotary_of_layer(int layer) {
  if constexpr (n_rotaries < R >> 1)
    if (is_block<R>(layer)) return detail::rotaries<R>.of_block[static_cast<std::size_t>(block_of_layer<R>(layer))];
  return 0;
}

/// Of a table of cosines, or of sines.
template <class R> inline constexpr Shape rotary_shape{trunk_of<R>.context_length, trunk_of<R>.head_width() / 2};
/// Of all tables.
template <class R>
inline constexpr std::int64_t rotary_elements = 2 * n_rotaries<R>* align_up(rotary_shape<R>.elements());

}  // namespace monomorph::plan
