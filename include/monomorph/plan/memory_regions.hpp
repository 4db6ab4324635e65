#pragma once
#include <array>
#include <monomorph/plan/memory.hpp>
#include <monomorph/plan/traffic.hpp>
#include <string_view>
#include <utility>
#include <vector>

/// Where in a rank's arenas everything lies that the plan counts, and when in a step it is in use.
namespace monomorph::plan {

/// The phases of a step of one micro-batch, by number: forward of each layer but the last one, the last one, which goes
/// forward and backward at once, backward of the others, and the update. What stays from one micro-batch to the next is
/// in use until the update.
struct StepPhases {
  int layers;
  constexpr int forward(int layer) const { return layer; }
  constexpr int backward(int layer) const { return 2 * (layers - 1) - layer; }
  constexpr int update() const { return 2 * layers - 1; }
  constexpr int count() const { return 2 * layers; }
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

/// The buffers of a rank in the order in which train/step/state.hpp cuts them from its arenas, and what lies in each.
template <class R> class MemoryRegions {
  using Precision = typename R::precision;
  using enum MemorySpace;
  static constexpr StepPhases phases{n_layers<R>};
  static constexpr PhaseInterval always{0, phases.update()}, in_update{phases.update(), phases.update()},
      in_passes{0, phases.backward(lowest_trained<R>)}, nowhere{0, -1};

 public:
  /// @param dp, micro_batch, tree_levels: as of memory()
  MemoryRegions(int dp, std::int64_t micro_batch, int tree_levels) : shards_(dp), activations_(micro_batch, dp) {
    add_parameters();
    add_gradients(tree_levels);
    add_optimizer();
    add_activations();
    add_tables();
  }
  std::vector<MemoryRegion> take() && { return std::move(regions_); }

 private:
  struct Buffer {
    MemorySpace arena;
    std::int64_t offset, element_bytes;
  };
  /// As Arena::take does.
  Buffer cut(MemorySpace arena, std::int64_t elements, DType dtype) {
    std::int64_t& used = used_[arena == host ? 1 : 0];
    const Buffer buffer{arena, used, size_of(dtype)};
    used += (elements * buffer.element_bytes + 63) / 64 * 64;
    return buffer;
  }
  void add(const Buffer& buffer, Slice slice, std::string_view what, int layer, PhaseInterval interval) {
    if (slice.shape.elements() > 0 && interval.first <= interval.last)
      regions_.push_back({what, layer, buffer.arena, buffer.offset + slice.offset * buffer.element_bytes,
                          slice.shape.elements() * buffer.element_bytes, interval});
  }
  void add_buffer(MemorySpace arena, std::int64_t elements, DType dtype, std::string_view what,
                  PhaseInterval interval) {
    add(cut(arena, elements, dtype), {0, {1, elements}}, what, -1, interval);
  }

  void add_parameters() {
    constexpr DType dtype = Precision::compute_dtype;
    const Buffer wholes = cut(device, shards_.params.wholes.elements, dtype),
                 parts = cut(Shards<R>::on_host ? host : device, shards_.params.shards.elements, dtype);
    for (int u = 0; u < n_units<R>; ++u) {
      const bool comes_and_goes = shards_.params.apart[u].present();
      add(parts, shards_.params.apart[u], "shard of parameters", u, always);
      if (comes_and_goes)
        add_uses(wholes, shards_.params.whole[u], "gathered parameters", u);
      else
        add(wholes, shards_.params.whole[u], "parameters", u, always);
    }
    add_buffer(device, shards_.arrivals.elements, dtype, "parameters that arrive from the host", always);
  }
  /// Of a unit that comes while the layer before is computed.
  void add_uses(const Buffer& buffer, Slice slice, std::string_view what, int u) {
    const int comes = phases.forward(larger_of(u - 1, 0));
    if (u >= last_layer<R> - 1 && backward_reaches<R>(u))
      return add(buffer, slice, what, u, {comes, phases.backward(u)});
    add(buffer, slice, what, u, {comes, phases.forward(u)});
    if (u <= 1) add(buffer, slice, what, u, in_update);  // for the next step
    if (gathered_for_backward<R>(u)) add(buffer, slice, what, u, {phases.backward(u + 1), phases.backward(u)});
  }

  void add_gradients(int tree_levels) {
    constexpr DType dtype = Precision::gradient_dtype;
    const Buffer wholes = cut(device, shards_.gradients.wholes.elements, dtype),
                 parts = cut(device, shards_.gradients.shards.elements, dtype);
    for (int u = 0; u < n_units<R>; ++u) {
      const int written = phases.backward(ties_units<R> && u == 0 ? last_layer<R> : u);
      const bool is_reduced_away = shards_.gradient_slot(u) >= 0;
      add(wholes, shards_.gradients.whole[u], "gradients", u,
          {written, is_reduced_away ? phases.backward(u) + 1 : phases.update()});
      add(parts, shards_.gradients.apart[u], "shard of gradients", u, {written, phases.update()});
    }
    for (int level = 0; level < tree_levels; ++level)
      add_buffer(device, shards_.tree_buffer.elements, dtype, "partial sums of gradients", always);
  }

  void add_optimizer() {
    using Optimizer = typename R::optimizer;
    constexpr DType master = Precision::master_dtype, state = state_dtype<Optimizer>(master);
    const OptimizerBuffers<R> buffers(shards_);
    constexpr bool on_host = OptimizerBuffers<R>::on_host;
    add_buffer(device, optimizer_workspace_elements<R>(), statistics_dtype(master), "workspace of the optimizer",
               in_update);
    const Buffer masters = cut(device, buffers.masters.elements, master),
                 states = cut(device, buffers.states.elements, state);
    const Buffer resting_masters = on_host ? cut(host, buffers.host_masters.elements, master) : masters,
                 resting_states = on_host ? cut(host, buffers.host_states.elements, state) : states;
    for (int u = 0; u < n_units<R>; ++u) {
      add(resting_masters, buffers.master[u], "master parameters", u, always);
      add(resting_states, buffers.state[u], "optimizer state", u, always);
      add(masters, buffers.master_in_use[u], "master parameters", u, in_update);
      add(states, buffers.state_in_use[u], "optimizer state", u, in_update);
    }
  }

  void add_activations() {
    constexpr DType compute = Precision::compute_dtype, statistic = statistics_dtype(compute);
    const Buffer kept = cut(device, activations_.buffer.elements, compute),
                 statistics = cut(device, activations_.statistics.elements, statistic),
                 on_host = cut(host, activations_.host_buffer.elements, compute),
                 statistics_on_host = cut(host, activations_.host_statistics.elements, statistic);
    for (int i = 0; i < n_layers<R>; ++i) {
      const PhaseInterval until_backward{phases.forward(i), phases.backward(i)};
      const auto [activations_of_layer, statistics_of_layer] = activations_.kept(i);
      const int sharer = shares_place(i);
      if (activations_.moves(i)) {
        add(on_host, activations_.offloaded(i).host_activations, "activations", i, until_backward);
        add(statistics_on_host, activations_.offloaded(i).host_statistics, "statistics", i, until_backward);
      }
      for (const PhaseInterval& here : sharer < 0 ? std::array{until_backward, nowhere} : around(i, sharer)) {
        add(kept, activations_of_layer, "activations", i, here);
        add(statistics, statistics_of_layer, "statistics", i, here);
      }
      if (i < last_layer<R>) add(kept, activations_.y_MD[i], "output", i, until_backward);
    }
    add(kept, activations_.dx_MD, "gradient of the residual stream", -1,
        {phases.forward(last_layer<R>), in_passes.last});
    add(kept, activations_.scratch().activations, "activations that are not kept", -1, in_passes);
    add(statistics, activations_.scratch().statistics, "statistics that are not kept", -1, in_passes);
    add(kept, {activations_.temporary.offset, {1, activations_.buffer.elements - activations_.temporary.offset}},
        "temporary of layers", -1, in_passes);
  }

  /// The layer that takes the place of layer i in between; -1 if none does.
  int shares_place(int i) const {
    for (int other = i + 1; other < n_layers<R>; ++other)
      if (activations_.shares_place_with(other) == i) return other;
    return -1;
  }
  /// Layer i has its place until the sharer's forward, and again from the end of its backward on.
  static constexpr std::array<PhaseInterval, 2> around(int i, int sharer) {
    return {PhaseInterval{phases.forward(i), phases.forward(sharer) - 1},
            PhaseInterval{phases.backward(sharer) + 1, phases.backward(i)}};
  }

  void add_tables() {
    add_buffer(device, scalar_bytes<R> / size_of(DType::fp64), DType::fp64, "numbers of a step", always);
    if (trunk_of<R>.position == Position::rotary)
      for (const std::string_view table : {"rotary cosines", "rotary sines"})
        add_buffer(device, align_up(trunk_of<R>.context_length * (trunk_of<R>.head_width() / 2)),
                   statistics_dtype(Precision::compute_dtype), table, always);
  }

  Shards<R> shards_;
  Activations<R> activations_;
  std::int64_t used_[2]{};
  std::vector<MemoryRegion> regions_;
};

template <class R> std::vector<MemoryRegion> memory_regions(int dp, std::int64_t micro_batch, int tree_levels) {
  return MemoryRegions<R>(dp, micro_batch, tree_levels).take();
}

}  // namespace monomorph::plan
