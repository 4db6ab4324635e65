#include <monomorph/train/describe/memory_regions.hpp>

#include "train/describe/arena_cuts.hpp"

#include <algorithm>

namespace monomorph::train {
namespace {

using enum MemorySpace;

class RegionList : ArenaCuts {
 public:
  explicit RegionList(const PlacedMemory& placed) : placed_(placed) {
    add_parameters();
    add_gradients();
    add_optimizer();
    add_activations();
    add_tables();
  }
  using ArenaCuts::take;

 private:
  void add_parameters();
  void add_uses(const Buffer& buffer, Slice slice, int unit);
  void add_gradients();
  void add_optimizer();
  void add_activations();
  void add_layer(const Buffer& activations, const Buffer& statistics, int layer);
  void add_tables();
  int n_stored_units() const { return static_cast<int>(placed_.params.whole.size()); }
  int sharer_of(int layer) const;

  const PlacedMemory& placed_;
  const plan::PlannedRecipe& recipe_ = *placed_.recipe;
  const int last_layer_ = recipe_.n_layers - 1;
  const StepPhases phases_{recipe_.n_layers};
  const PhaseInterval always_{0, phases_.update()}, in_update_{phases_.update(), phases_.update()},
      in_passes_{0, phases_.backward(placed_.lowest_trained)};
  const DType statistic_ = statistics_dtype(recipe_.compute_dtype);
};

void RegionList::add_parameters() {
  const auto& [whole, apart, wholes_length, shards_length] = placed_.params;
  const Buffer wholes = cut(device, wholes_length.elements, recipe_.compute_dtype),
               shards = cut(placed_.params_on_host ? host : device, shards_length.elements, recipe_.compute_dtype);
  for (int u = 0; u < n_stored_units(); ++u) {
    const int unit = u % placed_.n_units;
    add(shards, apart[u], "shard of parameters", unit, always_);
    if (apart[u].present())
      add_uses(wholes, whole[u], unit);
    else
      add(wholes, whole[u], "parameters", unit, always_);
  }
  cut_whole(device, placed_.arrivals.elements, recipe_.compute_dtype, "parameters that arrive from the host", always_);
  cut_whole(device, placed_.unpacked, recipe_.compute_dtype, "parameters made of NF4", in_passes_);
}

/// Of a unit that comes while the layer before is computed, and goes after its use. The last two stay for backward, and
/// the first two come when the update is done.
void RegionList::add_uses(const Buffer& buffer, Slice slice, int unit) {
  constexpr std::string_view what = "gathered parameters";
  const plan::LayerWork work = recipe_.layer_work(unit);
  const int comes = phases_.forward(std::max(unit - 1, 0));
  const bool stays = unit >= last_layer_ - 1 && work.is_reached;
  add(buffer, slice, what, unit, {comes, stays ? phases_.backward(unit) : phases_.forward(unit)});
  if (work.gathered_for_backward) add(buffer, slice, what, unit, {phases_.backward(unit + 1), phases_.backward(unit)});
  if (unit <= 1) add(buffer, slice, what, unit, in_update_);
}

/// Those in slots are reduced while the next layer goes back.
void RegionList::add_gradients() {
  const auto& [whole, apart, wholes_length, shards_length] = placed_.gradients;
  const Buffer wholes = cut(device, wholes_length.elements, recipe_.gradient_dtype),
               shards = cut(device, shards_length.elements, recipe_.gradient_dtype);
  for (int u = 0; u < n_stored_units(); ++u) {
    const bool is_tied = placed_.ties_units && u == 0, in_slot = placed_.has_gradient_slots && !is_tied;
    const int written = phases_.backward(is_tied ? last_layer_ : u);
    add(wholes, whole[u], "gradients", u, {written, in_slot ? phases_.backward(u) + 1 : phases_.update()});
    add(shards, apart[u], "shard of gradients", u, {written, phases_.update()});
  }
  for (int level = 0; level < placed_.tree_levels; ++level)
    cut_whole(device, placed_.gradient_tree.elements, recipe_.gradient_dtype, "partial sums of gradients", always_);
}

/// Units whose state lies on the host take turns on the device during the update.
void RegionList::add_optimizer() {
  cut_whole(device, placed_.optimizer_workspace, statistics_dtype(recipe_.master_dtype), "workspace of the optimizer",
            in_update_);
  const bool on_host = placed_.host_masters.elements + placed_.host_states.elements > 0;
  const PhaseInterval here = on_host ? in_update_ : PhaseInterval{0, -1};
  Buffer masters = cut_whole(device, placed_.masters.elements, recipe_.master_dtype, "masters in turn", here);
  Buffer states = cut_whole(device, placed_.states.elements, placed_.state_dtype, "optimizer state in turn", here);
  if (on_host) {
    masters = cut(host, placed_.host_masters.elements, recipe_.master_dtype);
    states = cut(host, placed_.host_states.elements, placed_.state_dtype);
  }
  for (int u = 0; u < n_stored_units(); ++u) {
    add(masters, placed_.master[u], "master parameters", u % placed_.n_units, always_);
    add(states, placed_.state[u], "optimizer state", u % placed_.n_units, always_);
  }
}

void RegionList::add_activations() {
  const Buffer activations = cut(device, placed_.activations.elements, recipe_.compute_dtype),
               statistics = cut(device, placed_.statistics.elements, statistic_),
               on_host = cut(host, placed_.host_activations.elements, recipe_.compute_dtype),
               statistics_on_host = cut(host, placed_.host_statistics.elements, statistic_);
  for (int i = 0; i <= last_layer_; ++i) {
    const PlacedLayer& layer = placed_.layers[i];
    const PhaseInterval until_backward{phases_.forward(i), phases_.backward(i)};
    add_layer(activations, statistics, i);
    add(activations, layer.output, "output", i, until_backward);
    add(on_host, layer.host_activations, "activations", i, until_backward);
    add(statistics_on_host, layer.host_statistics, "statistics", i, until_backward);
  }
  add(activations, placed_.dx, "gradient of the residual stream", -1, {phases_.forward(last_layer_), in_passes_.last});
  add(activations, placed_.scratch, "activations that are not kept", -1, in_passes_);
  add(statistics, placed_.scratch_statistics, "statistics that are not kept", -1, in_passes_);
  add(activations, placed_.temporary, "temporary of layers", -1, in_passes_);
}

/// What backward reads. A layer whose activations wait on the host has its place until the forward of the layer that
/// takes it, and again from the end of that one's backward on.
void RegionList::add_layer(const Buffer& activations, const Buffer& statistics, int layer) {
  const int sharer = sharer_of(layer), begin = phases_.forward(layer), end = phases_.backward(layer);
  const auto add_both = [&](PhaseInterval interval) {
    add(activations, placed_.layers[layer].activations, "activations", layer, interval);
    add(statistics, placed_.layers[layer].statistics, "statistics", layer, interval);
  };
  if (sharer < 0) return add_both({begin, end});
  add_both({begin, phases_.forward(sharer) - 1});
  add_both({phases_.backward(sharer) + 1, end});
}

/// The layer that takes a layer's place on the device; -1 if none does.
int RegionList::sharer_of(int layer) const {
  const auto found = std::ranges::find(placed_.layers, layer, &PlacedLayer::shares_place_with);
  return found == placed_.layers.end() ? -1 : static_cast<int>(found - placed_.layers.begin());
}

void RegionList::add_tables() {
  cut_whole(device, placed_.scalars, DType::fp64, "numbers of a step", always_);
  cut_whole(device, placed_.step_words, DType::fp64, "numbers of a step between ranks", always_);
  for (int i = 0; i < placed_.rotary_tables; ++i)
    for (const std::string_view table : {"rotary cosines", "rotary sines"})
      cut_whole(device, placed_.rotary_table, statistic_, table, always_);
}

}  // namespace

std::vector<MemoryRegion> memory_regions(const PlacedMemory& placed) { return RegionList(placed).take(); }

}  // namespace monomorph::train
