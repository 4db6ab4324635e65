#pragma once
#include <array>
#include <monomorph/plan/memory.hpp>
#include <monomorph/plan/planned_recipe.hpp>
#include <span>
#include <string_view>
#include <vector>

/// Where in a rank's arenas everything lies that the plan counts, and when in a step it is in use.
namespace monomorph::train {

/// The phases of a step of one micro-batch, by number: forward of each layer but the last one, the last one, which goes
/// forward and backward at once, backward of the others, and the update. What stays from one micro-batch to the next is
/// in use until the update.
struct StepPhases {
  int layers;
  constexpr int forward(int layer) const { return layer; }
  constexpr int backward(int layer) const { return 2 * (layers - 1) - layer; }
  constexpr int update() const { return 2 * layers - 1; }
};

/// First and last phase.
struct PhaseInterval {
  int first, last;
};

struct MemoryRegion {
  std::string_view what;
  int layer = -1;  ///< whose it is; -1: all layers share it
  MemorySpace arena = MemorySpace::device;
  std::int64_t offset = 0, bytes = 0;  ///< in that arena
  PhaseInterval phases{};
};

/// Where the plan of a recipe puts things, as values: so that a recipe's translation unit has no more to do with it.
struct PlacedUnits {
  std::span<const Slice> whole, apart;  ///< by stored unit
  Layout wholes, shards;
};
struct PlacedLayer {
  Slice activations, statistics, output;    ///< of the buffers on the device
  Slice host_activations, host_statistics;  ///< where these wait meanwhile
  int shares_place_with = -1;               ///< as of plan::Activations
};
struct PlacedMemory {
  const plan::PlannedRecipe* recipe;
  int lowest_trained = 0, n_units = 0;
  bool params_on_host = false, ties_units = false, has_gradient_slots = false;
  PlacedUnits params, gradients;
  Layout arrivals, gradient_tree;
  std::int64_t unpacked = 0;  ///< elements
  int tree_levels = 0;
  std::int64_t optimizer_workspace = 0;  ///< elements
  DType state_dtype{};
  std::span<const Slice> master, state;  ///< by unit
  Layout masters, states, host_masters, host_states;
  std::span<const PlacedLayer> layers;
  Layout activations, statistics, host_activations, host_statistics;
  Slice dx, scratch, scratch_statistics, temporary;
  std::int64_t scalars = 0, step_words = 0;  ///< elements
  std::int64_t rotary_table = 0;             ///< elements of cosines, or of sines
  int rotary_tables = 0;                     ///< of both
};

/// The buffers of a rank in the order in which train/step/state.hpp cuts them from its arenas, and what lies in each.
std::vector<MemoryRegion> memory_regions(const PlacedMemory& placed);

/// @param dp, micro_batch, tree_levels: as of plan::memory()
template <class R> std::vector<MemoryRegion> memory_regions(int dp, std::int64_t micro_batch, int tree_levels) {
  static constexpr plan::PlannedRecipe recipe = plan::planned_recipe<R>();
  const plan::Shards<R> shards(dp);
  const plan::OptimizerBuffers<R> optimizer(shards);
  const plan::Activations<R> activations(micro_batch, dp);
  std::array<PlacedLayer, plan::n_layers<R>> layers{};
  for (int i = 0; i < plan::n_layers<R>; ++i) {
    const auto kept = activations.kept(i);
    const auto& waits = activations.offloaded(i);
    layers[i] = {kept.activations,       kept.statistics,       i < plan::last_layer<R> ? activations.y_MD[i] : Slice{},
                 waits.host_activations, waits.host_statistics, activations.shares_place_with(i)};
  }
  const auto scratch = activations.scratch();
  return memory_regions(
      {.recipe = &recipe,
       .lowest_trained = plan::lowest_trained<R>,
       .n_units = plan::n_units<R>,
       .params_on_host = plan::Shards<R>::on_host,
       .ties_units = plan::ties_units<R>,
       .has_gradient_slots = !shards.accumulates_whole(),
       .params = {shards.params.whole, shards.params.apart, shards.params.wholes, shards.params.shards},
       .gradients = {shards.gradients.whole, shards.gradients.apart, shards.gradients.wholes, shards.gradients.shards},
       .arrivals = shards.arrivals,
       .gradient_tree = shards.tree_buffer,
       .unpacked = plan::unpacked_elements<R>,
       .tree_levels = tree_levels,
       .optimizer_workspace = plan::optimizer_workspace_elements<R>(),
       .state_dtype = state_dtype<typename R::optimizer>(R::precision::master_dtype),
       .master = optimizer.master,
       .state = optimizer.state,
       .masters = optimizer.masters,
       .states = optimizer.states,
       .host_masters = optimizer.host_masters,
       .host_states = optimizer.host_states,
       .layers = layers,
       .activations = activations.buffer,
       .statistics = activations.statistics,
       .host_activations = activations.host_buffer,
       .host_statistics = activations.host_statistics,
       .dx = activations.dx_MD,
       .scratch = scratch.activations,
       .scratch_statistics = scratch.statistics,
       .temporary = {activations.temporary.offset, {1, activations.buffer.elements - activations.temporary.offset}},
       .scalars = plan::scalar_bytes<R> / size_of(DType::fp64),
       .step_words = align_up(plan::step_words<R>(dp)),
       .rotary_table = align_up(plan::rotary_shape<R>.elements()),
       .rotary_tables = plan::n_rotaries<R>});
}

}  // namespace monomorph::train
