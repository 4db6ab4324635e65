#pragma once
#include <array>
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/block/embedding_unit.hpp>
#include <monomorph/block/stack.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/policy/finetuning_policy.hpp>
#include <monomorph/policy/sharding_policy.hpp>

/// Units: what is gathered, reduced, released and checkpointed at once. Unit 0 is the embedding, units 1 to L are the
/// blocks, unit L + 1 is the head; a tied head is part of unit 0.
namespace monomorph::plan {

template <class R> inline constexpr int n_blocks = layers_of<R>.length;
template <class R> inline constexpr int embedding_unit = 0;
template <class R> inline constexpr int head_unit = R::model.tied_head ? 0 : n_blocks<R> + 1;
template <class R> inline constexpr int n_units = n_blocks<R> + (R::model.tied_head ? 1 : 2);
constexpr int unit_of_block(int block) { return block + 1; }
constexpr int block_of_unit(int unit) { return unit - 1; }

/// Whether a unit has gradients and an update. A tied head is trained as the embedding is.
template <class R> constexpr bool trains(int unit) {
  if (unit == embedding_unit<R>) return finetuning_of<R>::trains(UnitKind::embedding, 0);
  if (unit > n_blocks<R>) return finetuning_of<R>::trains(UnitKind::head, 0);
  return finetuning_of<R>::trains(UnitKind::block, unit - 1);
}
template <class R>
inline constexpr int n_frozen = [] {
  int n = 0;
  for (int unit = 0; unit < n_units<R>; ++unit) n += trains<R>(unit) ? 0 : 1;
  return n;
}();
/// Backward goes down to this unit, as those below are frozen.
template <class R>
inline constexpr int lowest_trained = [] {
  int unit = 0;
  while (unit < n_units<R> - 1 && !trains<R>(unit)) ++unit;
  return unit;
}();
template <class R> constexpr bool backward_reaches(int unit) { return unit >= lowest_trained<R>; }

/// Calls f with the parameter layout of a unit.
template <class R> constexpr void with_unit_params(int unit, auto&& f) {
  if (unit == embedding_unit<R>) return f(typename EmbeddingUnit<R>::Params{});
  if (unit > n_blocks<R>) return f(typename HeadUnit<R>::Params{});
  with_block<R>(unit - 1, [&](auto block) { f(typename decltype(block)::Params{unit - 1}); });
}
template <class R> constexpr ParameterLayout unit_layout(int unit) {
  ParameterLayout layout;
  with_unit_params<R>(unit, [&](const auto& params) { layout = params; });
  return layout;
}

namespace detail {
/// Layouts differ only by run, so a sum over units walks runs, not blocks.
template <class R, class F> constexpr std::int64_t sum_over_units(F&& of_layout) {
  std::int64_t sum = of_layout(typename EmbeddingUnit<R>::Params{});
  if (!R::model.tied_head) sum += of_layout(typename HeadUnit<R>::Params{});
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    sum += run.length * of_layout(typename decltype(run)::template block<R>::Params{});
  });
  return sum;
}
}  // namespace detail

/// Parameters of the model, without any padding: what published counts are of.
template <class R>
inline constexpr std::int64_t params = detail::sum_over_units<R>([](const ParameterLayout& layout) {
  return layout.parameters();
});

/// Elements of the unit that has fewest.
template <class R>
inline constexpr std::int64_t smallest_unit = [] {
  std::int64_t smallest = unit_layout<R>(0).elements;
  for (int u = 1; u < n_units<R>; ++u) smallest = smaller_of(smallest, unit_layout<R>(u).elements);
  return smallest;
}();

/// Where the units' parameters, or their gradients, lie on a rank: each unit as a whole while it is used, and the
/// rank's shard of it, which is a part of the whole or lies apart from it.
template <int n_units> struct UnitPlaces {
  std::array<Slice, n_units> whole{};  ///< in the buffer of wholes; not present: the unit has none
  std::array<Slice, n_units> apart{};  ///< in the buffer of shards; not present: the shard is a part of the whole
  Layout wholes, shards;
};

/// How the data-parallel ranks divide the units among them, and where on a rank they lie. What is split between its
/// uses is whole for a while only, in one of two slots: one for the unit in use, and one for a unit in flight. Anything
/// else has a place of its own.
template <class R> struct Shards {
  static constexpr int n = n_units<R>;
  int shards;
  std::array<std::int64_t, n> part{};  ///< elements of a unit's shard
  UnitPlaces<n> params, gradients;
  std::array<Slice, n> tree{};  ///< shards on a level of the gradients' tree
  Layout tree_buffer;

  constexpr explicit Shards(int dp) : shards(R::sharding::optimizer_shards(dp)) {
    for (int u = 0; u < n; ++u) {
      part[u] = align_up((unit_layout<R>(u).elements + shards - 1) / shards);
      if (trains<R>(u)) tree[u] = tree_buffer.take({1, part[u]});
    }
    place_params();
    place_gradients();
  }
  /// In which of the two slots a unit's whole gradients lie; -1 if they have a place of their own.
  constexpr int gradient_slot(int u) const { return accumulates_whole() || resident(u) ? -1 : u % 2; }
  /// Whether micro-batches accumulate in the whole gradients, and not in the shard after each reduction.
  constexpr bool accumulates_whole() const { return shards == 1 || !R::sharding::splits_gradients; }
  /// A tied embedding table is needed by the first unit and the last.
  static constexpr bool resident(int u) { return R::model.tied_head && u == embedding_unit<R>; }

 private:
  constexpr void place_params() {
    const bool in_slots = shards > 1 && R::sharding::splits_parameters;
    Slots slots;
    if (in_slots) slots = take_slots(params.wholes, [](int) { return true; });
    for (int u = 0; u < n; ++u) {
      const bool in_slot = in_slots && !resident(u);
      if (in_slot) params.apart[u] = params.shards.take({1, part[u]});
      params.whole[u] = in_slot ? in(slots, u) : params.wholes.take({1, part[u] * shards});
    }
  }
  /// The shard lies apart where reduced gradients accumulate in it, while the next micro-batch writes the whole.
  constexpr void place_gradients() {
    Slots slots;
    if (!accumulates_whole()) slots = take_slots(gradients.wholes, trains<R>);
    for (int u = 0; u < n; ++u) {
      if (!trains<R>(u)) continue;
      if (!accumulates_whole()) gradients.apart[u] = gradients.shards.take({1, part[u]});
      gradients.whole[u] = gradient_slot(u) >= 0 ? in(slots, u) : gradients.wholes.take({1, part[u] * shards});
    }
  }

  using Slots = std::array<Slice, 2>;
  constexpr Slots take_slots(Layout& buffer, auto&& uses_them) const {
    std::int64_t longest = 0;
    for (int u = 0; u < n; ++u)
      if (uses_them(u) && !resident(u)) longest = larger_of(longest, part[u] * shards);
    Slots slots;
    for (Slice& slot : slots) slot = buffer.take({1, longest});
    return slots;
  }
  constexpr Slice in(const Slots& slots, int u) const { return {slots[u % 2].offset, {1, part[u] * shards}}; }
};

}  // namespace monomorph::plan
