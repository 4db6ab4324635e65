#pragma once
#include <array>
#include <monomorph/block/decoder_block.hpp>
#include <monomorph/block/embedding_unit.hpp>
#include <monomorph/block/stack.hpp>
#include <monomorph/core/extremes.hpp>

/// Units: what is gathered, reduced, released and checkpointed at once. Unit 0 is the embedding, units 1 to L are the
/// blocks, unit L + 1 is the head; a tied head is part of unit 0.
namespace monomorph::plan {

template <class R> inline constexpr int n_blocks = layers_of<R>.length;
template <class R> inline constexpr int embedding_unit = 0;
template <class R> inline constexpr int head_unit = R::model.tied_head ? 0 : n_blocks<R> + 1;
template <class R> inline constexpr int n_units = n_blocks<R> + (R::model.tied_head ? 1 : 2);
constexpr int unit_of_block(int block) { return block + 1; }

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

/// A rank's shard of each unit (`shard`), at the same slice of the buffers of parameters, gradients and optimiser
/// state, and where the unsharded unit lies while it is used: in place, if the shard is the whole unit; in one of two
/// slots, one for the unit in use and one for a unit in flight; or in a place of its own, if it stays from forward to
/// backward.
template <class R> struct Shards {
  std::array<Slice, n_units<R>> shard{}, unsharded_params{}, unsharded_gradients{};
  Layout shard_buffer, unsharded_params_buffer, unsharded_gradients_buffer;
  int shards;
  constexpr explicit Shards(int dp) : shards(R::sharding::param_shards(dp)) {
    std::int64_t longest = 0;
    for (int u = 0; u < n_units<R>; ++u) {
      const std::int64_t part = align_up((unit_layout<R>(u).elements + shards - 1) / shards);
      shard[u] = unsharded_params[u] = unsharded_gradients[u] = shard_buffer.take({1, part});
      if (!resident(u)) longest = larger_of(longest, part * shards);
    }
    if (shards == 1) return;
    place(unsharded_params, unsharded_params_buffer, longest, R::sharding::releases_after_forward);
    place(unsharded_gradients, unsharded_gradients_buffer, longest, R::sharding::reduces_every_micro_batch);
  }
  /// Whether micro-batches accumulate in the unsharded gradients, and not in the shard after each reduction.
  constexpr bool accumulates_unsharded() const { return shards == 1 || !R::sharding::reduces_every_micro_batch; }
  /// In which of the two slots a unit's unsharded gradients lie; -1 if they have a place of their own.
  constexpr int gradient_slot(int u) const { return accumulates_unsharded() || resident(u) ? -1 : u % 2; }
  /// A tied embedding table is needed by the first unit and the last.
  static constexpr bool resident(int u) { return R::model.tied_head && u == embedding_unit<R>; }

 private:
  constexpr void place(std::array<Slice, n_units<R>>& whole, Layout& buffer, std::int64_t longest, bool in_slots) {
    const auto length = [&](int u) { return shard[u].shape.elements() * shards; };
    Slice slots[2];
    if (in_slots) slots[0] = buffer.take({1, longest}), slots[1] = buffer.take({1, longest});
    for (int u = 0; u < n_units<R>; ++u)
      whole[u] = in_slots && !resident(u) ? Slice{slots[u % 2].offset, {1, length(u)}} : buffer.take({1, length(u)});
  }
};

}  // namespace monomorph::plan
