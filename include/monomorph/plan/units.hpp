#pragma once
#include <array>
#include <boost/hana/for_each.hpp>
#include <monomorph/block/layers.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/plan/packed_unit.hpp>
#include <monomorph/plan/strategy.hpp>
#include <monomorph/policy/finetuning_policy.hpp>
#include <monomorph/spec/parameter_name.hpp>
#include <monomorph/spec/slice_places.hpp>

/// Layers are numbered from the first one, 0, an embedding, over the L blocks to the last one, a head; the kind of
/// model says what else stands before and behind the blocks. Each has a unit of the same number: what is gathered,
/// reduced, released and checkpointed at once. A tied head alone is a part of unit 0.
namespace monomorph::plan {

template <class R> inline constexpr int n_layers = LayersOf<R>::length;
template <class R> inline constexpr int n_blocks = layers_of<R>.length;
template <class R> inline constexpr int last_layer = n_layers<R> - 1;
namespace detail {
template <class R, class... Runs> constexpr int layers_before_blocks(const Stack<Runs...>&) {
  int n = 0;
  bool found = false;
  const auto look_at = [&](bool is_block, int length) {
    found = found || is_block;
    n += found ? 0 : length;
  };
  (look_at(unit_kind<typename Runs::template block<R>> == UnitKind::block, Runs::length), ...);
  return n;
}
}  // namespace detail
template <class R> inline constexpr int first_block = detail::layers_before_blocks<R>(LayersOf<R>{});
template <class R> constexpr int layer_of_block(int block) { return first_block<R> + block; }
template <class R> constexpr int block_of_layer(int layer) { return layer - first_block<R>; }
template <class R> constexpr bool is_block(int layer) {
  return 0 <= block_of_layer<R>(layer) && block_of_layer<R>(layer) < n_blocks<R>;
}

template <class R> inline constexpr bool ties_units = shares_first_unit<LastLayer<R>>;
template <class R> inline constexpr int n_units = n_layers<R> - (ties_units<R> ? 1 : 0);
template <class R> constexpr int unit_of_layer(int layer) { return layer < n_units<R> ? layer : 0; }
template <class R> inline constexpr int head_unit = unit_of_layer<R>(last_layer<R>);
/// Whether no layer before, or behind, uses the same unit.
template <class R> constexpr bool first_uses_unit(int layer) { return layer < n_units<R>; }
template <class R> constexpr bool last_uses_unit(int layer) {
  return layer == last_layer<R> || layer > 0 || !ties_units<R>;
}

template <class R> constexpr ParameterLayout unit_layout(int unit) {
  ParameterLayout layout;
  with_layer<R>(unit, [&](auto l) { layout = typename decltype(l)::Params{block_of_layer<R>(unit)}; });
  return layout;
}

/// The name by which checkpoints know a tensor of a unit.
template <class R> constexpr ParameterName parameter_name(int unit, const TensorInfo& tensor) {
  return {tensor.name, is_block<R>(unit) ? block_of_layer<R>(unit) : -1};
}

namespace detail {
/// A tied head is trained as the embedding is.
template <class R> constexpr bool chooses_unit(int unit) {
  bool chooses = false;
  with_layer<R>(unit, [&](auto layer) {
    constexpr UnitKind kind = unit_kind<decltype(layer)>;
    chooses = finetuning_of<R>::trains(kind, kind == UnitKind::block ? block_of_layer<R>(unit) : 0);
  });
  return chooses;
}
}  // namespace detail

/// Whether the recipe freezes single tensors of units, and not only whole units.
template <class R> inline constexpr bool freezes_tensors = FinetuningAxis::Look::has_trains_parameter<finetuning_of<R>>;
namespace detail {
/// By unit and by the index of a tensor, what `holds(name, parameter_class)`. A policy compares names letter by letter,
/// which takes a compiler long, and many rules and much of the plan ask: so it is asked once.
template <class R> constexpr auto by_tensor(auto holds) {
  std::array<std::array<bool, ParameterLayout::capacity>, n_units<R>> held{};
  for (int unit = 0; unit < n_units<R>; ++unit) {
    const ParameterLayout layout = unit_layout<R>(unit);
    for (const TensorInfo& tensor : layout)
      held[unit][tensor.index] = holds(parameter_name<R>(unit, tensor).view(), tensor.parameter_class);
  }
  return held;
}
template <class R>
inline constexpr auto trained_by_name = by_tensor<R>([](std::string_view name, ParameterClass parameter_class) {
  return finetuning_of<R>::trains_parameter(name, parameter_class);
});

/// Whether the recipe's finetuning trains a tensor.
template <class R> constexpr bool chooses_tensor(int unit, const TensorInfo& tensor) {
  if constexpr (freezes_tensors<R>)
    if (!trained_by_name<R>[unit][tensor.index]) return false;
  return chooses_unit<R>(unit);
}
template <class R>
inline constexpr auto trained_units = [] {
  std::array<bool, n_units<R>> trained{};
  for (int unit = 0; unit < n_units<R>; ++unit) {
    const ParameterLayout layout = unit_layout<R>(unit);
    for (const TensorInfo& tensor : layout)
      trained[unit] =
          trained[unit] || (tensor.parameter_class != ParameterClass::state && chooses_tensor<R>(unit, tensor));
  }
  return trained;
}();
}  // namespace detail

/// Whether a unit has gradients and an update: those of some tensor. Of a stored unit that is frozen, it has not.
template <class R> constexpr bool trains(int unit) {
  if constexpr (freezes_tensors<R>)
    return unit < n_units<R> && detail::trained_units<R>[unit];
  else
    return detail::chooses_unit<R>(unit);
}
/// Whether a tensor has a gradient and an update. What a block records of its own arithmetic is no parameter that
/// finetuning chooses: it is kept as long as anything of the block is trained.
template <class R> constexpr bool trains_tensor(int unit, const TensorInfo& tensor) {
  return tensor.is_parameter ? detail::chooses_tensor<R>(unit, tensor) : trains<R>(unit);
}

/// Whether the recipe keeps matrices that are frozen in NF4.
template <class R> inline constexpr bool quantizes = FinetuningAxis::Look::has_quantizes_parameter<finetuning_of<R>>;
namespace detail {
template <class R>
inline constexpr auto quantized_by_name = by_tensor<R>([](std::string_view name, ParameterClass parameter_class) {
  return finetuning_of<R>::quantizes_parameter(name, parameter_class);
});
}
/// Whether a tensor is kept so.
template <class R> constexpr bool quantizes_tensor(int unit, const TensorInfo& tensor) {
  if constexpr (quantizes<R>)
    return tensor.is_parameter && !trains_tensor<R>(unit, tensor) && detail::quantized_by_name<R>[unit][tensor.index];
  else
    return false;
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
/// Whether a layer's backward reads its parameters.
template <class R> constexpr bool backward_reads(int layer) {
  bool reads = true;
  with_layer<R>(layer, [&](auto l) { reads = backward_reads_params<decltype(l)>; });
  return reads;
}

/// A unit of which some tensors are trained and others are not is stored as two: what is trained keeps the unit's
/// number, and what is frozen has the number behind all units. So ranks split, collect and reduce each of the two for
/// itself, and what is frozen has no gradients, no reduction and no state wherever ranks cut it. What is kept in NF4
/// has the number behind all of those, as a third: ranks see it as elements of the dtype of compute, which hold its
/// bytes.
template <class R> inline constexpr int n_stored_units = (quantizes<R> ? 3 : freezes_tensors<R> ? 2 : 1) * n_units<R>;
template <class R> inline constexpr int first_packed = 2 * n_units<R>;
template <class R> constexpr bool is_packed(int stored) { return quantizes<R> && stored >= first_packed<R>; }
/// The unit that a stored one is all or a part of.
template <class R> constexpr int unit_of_stored(int stored) { return stored % n_units<R>; }

namespace detail {
/// In which of a unit's parts a tensor is stored. What is not packed of a unit that is frozen keeps the unit's number.
template <class R> constexpr StoredPart stored_part(int unit, const TensorInfo& tensor) {
  if (quantizes_tensor<R>(unit, tensor)) return StoredPart::packed;
  return trains<R>(unit) && !trains_tensor<R>(unit, tensor) ? StoredPart::frozen : StoredPart::trained;
}
/// The tensors of a unit that are stored in one of its parts, with what pads the slices of kernels, side by side.
template <class R> constexpr ParameterLayout part_of_unit(int unit, StoredPart of) {
  const ParameterLayout whole = unit_layout<R>(unit);
  ParameterLayout part;
  for (int i = 0; i < whole.size();) {
    const std::int64_t storage = whole[i].storage;
    int end = i + 1;
    while (end < whole.size() && whole[end].storage == storage) ++end;
    const std::int64_t after = end < whole.size() ? whole[end].storage : whole.elements;
    if (stored_part<R>(unit, whole[i]) == of) {
      const Slice place = part.take({1, after - storage});
      for (int k = i; k < end; ++k) part.add_moved(whole[k], place.offset);
    }
    i = end;
  }
  return part;
}
}  // namespace detail

/// What is packed of a unit.
template <class R> constexpr PackedUnit packed_unit(int unit) {
  return PackedUnit(detail::part_of_unit<R>(unit, StoredPart::packed));
}

/// What a stored unit holds. Of one without tensors that are frozen alone, the second part has no elements. Of what is
/// packed there are elements alone, and no tensors.
template <class R> constexpr ParameterLayout stored_layout(int stored) {
  const int unit = unit_of_stored<R>(stored);
  if constexpr (quantizes<R>) {
    if (is_packed<R>(stored)) return packed_unit<R>(unit).stored(size_of(R::precision::compute_dtype));
    return detail::part_of_unit<R>(unit, StoredPart{stored / n_units<R>});
  }
  if constexpr (freezes_tensors<R>)
    if (trains<R>(unit))
      return detail::part_of_unit<R>(unit, stored == unit ? StoredPart::trained : StoredPart::frozen);
  return stored == unit ? unit_layout<R>(unit) : ParameterLayout{};
}

/// Elements of the place where numbers are made of what is packed of the unit in use. Kernels run in their order, so
/// units take turns.
template <class R>
inline constexpr std::int64_t unpacked_elements = [] {
  std::int64_t longest = 0;
  if constexpr (quantizes<R>)
    for (int unit = 0; unit < n_units<R>; ++unit) longest = larger_of(longest, packed_unit<R>(unit).unpacked.elements);
  return longest;
}();

/// Where the slices of each unit's Params lie, if some of it is frozen alone.
template <class R>
inline constexpr auto slice_places = [] {
  std::array<SlicePlaces, n_units<R>> places{};
  for (int unit = 0; unit < n_units<R>; ++unit) {
    constexpr int n_parts = n_stored_units<R> / n_units<R>;
    const std::array<ParameterLayout, 3> stored{stored_layout<R>(unit), stored_layout<R>(n_units<R> + unit),
                                                n_parts < 3 ? ParameterLayout{}
                                                            : detail::part_of_unit<R>(unit, StoredPart::packed)};
    const ParameterLayout whole = unit_layout<R>(unit);
    for (int i = 0; i < whole.size(); ++i) {
      if (i > 0 && whole[i].storage == whole[i - 1].storage) continue;
      for (int k = 0; k < n_parts; ++k)
        for (const TensorInfo& tensor : stored[k])
          if (tensor.index == i) places[unit].add({whole[i].storage, tensor.storage, StoredPart{k}});
    }
  }
  return places;
}();

namespace detail {
/// Layouts differ only by run, so a sum over units walks runs, not blocks.
template <class R, class F> constexpr std::int64_t sum_over_units(F&& of_layout) {
  std::int64_t sum = 0;
  boost::hana::for_each(LayersOf<R>::runs, [&](auto run) {
    using Layer = typename decltype(run)::template block<R>;
    if (!shares_first_unit<Layer>) sum += run.length * of_layout(typename Layer::Params{});
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
  static constexpr int n = n_stored_units<R>;
  ShardingValues sharding;
  Purpose purpose;
  int shards = sharding.shards;
  std::array<std::int64_t, n> part{};  ///< elements of a unit's shard
  UnitPlaces<n> params, gradients;     ///< shards of parameters that lie apart may be on the host
  std::array<Slice, n> arrived{};      ///< where a shard from the host lies before it is gathered, if ranks split units
  Layout arrivals;
  std::array<Slice, n> tree{};  ///< shards on a level of the gradients' tree
  Layout tree_buffer;
  std::array<Slice, 2> gradient_slots{};  ///< among whole gradients, each as long as the longest unit that has one

  constexpr explicit Shards(int dp) : Shards(sharding_values<typename R::sharding>(dp)) {}
  /// With another sharding policy than the recipe's, or without gradients.
  constexpr explicit Shards(const ShardingValues& values, Purpose what_for = Purpose::training)
      : sharding(values), purpose(what_for) {
    for (int u = 0; u < n; ++u) {
      part[u] = align_up((stored_layout<R>(u).elements + shards - 1) / shards);
      if (trains<R>(u)) tree[u] = tree_buffer.take({1, part[u]});
    }
    place_params();
    if (purpose == Purpose::training) place_gradients();
  }
  /// In which of the two slots a unit's whole gradients lie; -1 if they have a place of their own.
  constexpr int gradient_slot(int u) const { return accumulates_whole() || resident(u) ? -1 : u % 2; }
  /// Where a unit's whole gradients would lie in that slot, whichever is its own; or the place of its own, if it has
  /// one. The caller knows that the slot is free.
  constexpr Slice whole_gradients_in(int slot, int u) const {
    return gradient_slot(u) < 0 ? gradients.whole[u] : Slice{gradient_slots[slot].offset, gradients.whole[u].shape};
  }
  /// Whether micro-batches accumulate in the whole gradients, and not in the shard after each reduction.
  constexpr bool accumulates_whole() const { return shards == 1 || !sharding.splits_gradients; }
  constexpr bool params_on_host() const { return sharding.parameter_space == MemorySpace::host; }
  static constexpr bool on_host =
      parameter_space<typename R::sharding> == MemorySpace::host;  ///< by the recipe's policy
  /// A unit that the first layer and the last one share stays.
  static constexpr bool resident(int u) { return ties_units<R> && unit_of_stored<R>(u) == 0; }

 private:
  constexpr void place_params() {
    const bool in_slots = plan::in_slots(sharding);
    for (int first = 0; first < n; first += n_units<R>) {  // what is frozen alone has slots of its own
      const int end = first + n_units<R>;
      Slots slots;
      if (in_slots) slots = take_slots(params.wholes, first, [](int) { return true; });
      if (params_on_host() && shards > 1) place_arrivals(first);
      for (int u = first; u < end; ++u) {
        const bool in_slot = in_slots && !resident(u);
        if (in_slot) params.apart[u] = params.shards.take({1, part[u]});
        params.whole[u] = in_slot ? in(slots, u) : params.wholes.take({1, part[u] * shards});
      }
    }
  }
  constexpr void place_arrivals(int first) {
    const int end = first + n_units<R>;
    std::int64_t longest = 0;
    for (int u = first; u < end; ++u)
      if (!resident(u)) longest = larger_of(longest, part[u]);
    const Slice places[] = {arrivals.take({1, longest}), arrivals.take({1, longest})};
    for (int u = first; u < end; ++u)
      if (!resident(u)) arrived[u] = {places[slot_of(u)].offset, {1, part[u]}};
  }
  /// The shard lies apart where reduced gradients accumulate in it, while the next micro-batch writes the whole.
  constexpr void place_gradients() {
    if (!accumulates_whole()) gradient_slots = take_slots(gradients.wholes, 0, trains<R>);
    for (int u = 0; u < n; ++u) {
      if (!trains<R>(u)) continue;
      if (!accumulates_whole()) gradients.apart[u] = gradients.shards.take({1, part[u]});
      gradients.whole[u] = gradient_slot(u) >= 0 ? in(gradient_slots, u) : gradients.wholes.take({1, part[u] * shards});
    }
  }

  using Slots = std::array<Slice, 2>;
  /// For units that have no place of their own, from `first` on as many as there are.
  constexpr Slots take_slots(Layout& buffer, int first, auto&& uses_them) const {
    std::int64_t longest = 0;
    for (int u = first; u < first + n_units<R>; ++u)
      if (uses_them(u) && !resident(u)) longest = larger_of(longest, part[u] * shards);
    Slots slots;
    for (Slice& slot : slots) slot = buffer.take({1, longest});
    return slots;
  }
  constexpr Slice in(const Slots& slots, int u) const { return {slots[slot_of(u)].offset, {1, part[u] * shards}}; }
  static constexpr int slot_of(int u) { return unit_of_stored<R>(u) % 2; }
};

}  // namespace monomorph::plan
