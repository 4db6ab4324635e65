#include "train/scaling/step_prediction.hpp"

#include "train/scaling/device_memory.hpp"
#include "train/scaling/layer_time.hpp"
#include "train/scaling/step_timeline.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

/// What is known of a unit before the step is simulated.
struct UnitPlan {
  double forward = 0, backward = 0;                  ///< seconds of the layer's kernels
  double gather = 0, reduce = 0, reduce_copies = 0;  ///< seconds of a collective
  double update = 0;                                 ///< seconds of the optimiser's kernels
  plan::LayerWork work;
};

/// The schedule of train/step/step.hpp and of the stores beside it, with seconds in place of work.
class StepSimulation {
 public:
  StepSimulation(std::vector<UnitPlan> units, const PlannedRun& run, double contention)
      : units_(std::move(units)),
        run_(run),
        releases_(run.strategy.sharding.splits_parameters && run.strategy.sharding.shards > 1),
        timeline_(contention),
        state_(units_.size()) {}

  void step() {
    for (std::int64_t i = 0; i < run_.micro_batches; ++i) {
      forward();
      backward(i);
    }
    timeline_.wait_for_all();
    update();
  }
  const StepTimeline& timeline() const { return timeline_; }
  double communication() const { return communication_; }

 private:
  struct UnitState {
    bool there = false;
    double gathered = 0, reduced = 0;  ///< when
  };
  int last() const { return static_cast<int>(units_.size()) - 1; }
  /// A tied head uses the unit of the first layer.
  int unit(int layer) const { return units_[layer].work.unit_elements > 0 ? layer : 0; }
  bool is_own(int layer) const { return unit(layer) == layer; }
  double communicate(double seconds) {
    communication_ += seconds;
    return timeline_.communicate(seconds);
  }

  void collect(int u) {
    if (std::exchange(state_[u].there, true)) return;
    state_[u].gathered = communicate(units_[u].gather);
  }
  /// A unit that two layers share stays until the second one is through.
  void release(int layer, bool is_last_use) {
    const plan::LayerWork& work = units_[unit(layer)].work;
    const bool stays = work.is_resident && !work.is_trained;
    if (releases_ && is_last_use && !stays) state_[unit(layer)].there = false;
  }

  void forward() {
    for (int i = 0; i < last(); ++i) {
      collect(unit(i));
      collect(unit(i + 1));
      timeline_.wait(state_[unit(i)].gathered);
      timeline_.compute(units_[i].forward);
      if (i < last() - 1) release(i, i > 0 || is_own(last()));
    }
  }
  /// The head goes forward and backward at once.
  void backward(std::int64_t micro_batch) {
    for (int i = last(); i >= 0; --i) {
      const UnitPlan& layer = units_[i];
      if (i < last() && !layer.work.is_reached) break;
      if (i > 0 && units_[i - 1].work.gathered_for_backward) collect(unit(i - 1));
      timeline_.wait(state_[unit(i)].gathered);
      wait_for_gradient_slot(i);
      timeline_.compute(layer.backward + (i == last() ? layer.forward : 0));
      release(i, is_own(i));
      if (is_own(i) && layer.work.is_trained) reduce(i, micro_batch);
    }
  }
  /// Two slots hold whole gradients where ranks split them between micro-batches.
  void wait_for_gradient_slot(int layer) {
    if (run_.strategy.sharding.splits_gradients && layer + 2 <= last()) timeline_.wait(state_[layer + 2].reduced);
  }
  void reduce(int u, std::int64_t micro_batch) {
    const bool is_last = micro_batch == run_.micro_batches - 1;
    if (!run_.strategy.sharding.splits_gradients && !is_last) return;
    state_[u].reduced = communicate(units_[u].reduce + (is_last ? units_[u].reduce_copies : 0));
  }
  void update() {
    for (int u = 0; u <= last(); ++u) {
      if (!is_own(u)) continue;
      timeline_.compute(units_[u].update);
      if (units_[u].work.is_trained) state_[u].there = false;
      if (!releases_ || u <= 1) collect(u);
    }
  }

  std::vector<UnitPlan> units_;
  const PlannedRun& run_;
  bool releases_;
  StepTimeline timeline_;
  std::vector<UnitState> state_;
  double communication_ = 0;
};

double bytes_of(std::int64_t elements, DType dtype) { return static_cast<double>(elements * size_of(dtype)); }

/// Bytes that the optimiser's kernels move for each element of a rank's shard: its gradient once more for the norm,
/// master and state from and to memory, and what compute reads.
double update_bytes_per_element(const plan::PlannedRecipe& recipe, double state_bytes) {
  const bool has_copy = recipe.master_dtype != recipe.compute_dtype;
  return 2.0 * static_cast<double>(size_of(recipe.gradient_dtype)) +
         2.0 * static_cast<double>(size_of(recipe.master_dtype)) + 2 * state_bytes +
         (has_copy ? static_cast<double>(size_of(recipe.compute_dtype)) : 0);
}

std::vector<plan::LayerWork> work_of_layers(const plan::PlannedRecipe& recipe) {
  std::vector<plan::LayerWork> layers(static_cast<std::size_t>(recipe.n_layers));
  for (int i = 0; i < recipe.n_layers; ++i) layers[i] = recipe.layer_work(i);
  return layers;
}

/// Bytes of the optimiser's state for each element that it updates.
double state_bytes(const plan::Memory& memory, const std::vector<plan::LayerWork>& layers, int shards) {
  double trained = 0;
  for (const plan::LayerWork& layer : layers)
    trained += static_cast<double>(layer.is_trained ? layer.unit_elements : 0);
  const auto bytes = static_cast<double>(memory.optimizer_state + memory.host_optimizer);
  return bytes * shards / std::max(1.0, trained);
}

/// Adds the seconds of what ranks exchange of a unit, and of its update.
void plan_exchange(const plan::PlannedRecipe& recipe, const PlannedRun& run, const CollectiveTime& collectives,
                   UnitPlan& unit) {
  const int n_shards = run.strategy.sharding.shards;
  const PlacedRanks shards = shard_group(run.cluster, run.ranks, n_shards),
                    replicas = replica_group(run.cluster, run.ranks, n_shards);
  unit.gather = collectives.gather(shards, bytes_of(unit.work.unit_elements, recipe.compute_dtype));
  if (!unit.work.is_trained) return;
  const double gradients = bytes_of(unit.work.unit_elements, recipe.reduce_dtype);
  unit.reduce = collectives.gather(shards, gradients);
  unit.reduce_copies = collectives.all_reduce(replicas, gradients / n_shards);
}

std::vector<UnitPlan> plan_units(const plan::PlannedRecipe& recipe, const PlannedRun& run, const plan::Memory& memory,
                                 const Calibration& calibration) {
  const LayerTime time(recipe, *run.cluster.gpu, calibration);
  const CollectiveTime collectives(run.cluster, calibration);
  const double tokens = static_cast<double>(run.micro_batch * recipe.trunk->context_length);
  const std::vector<plan::LayerWork> layers = work_of_layers(recipe);
  const int shards = run.strategy.sharding.shards;
  const double updated = update_bytes_per_element(recipe, state_bytes(memory, layers, shards));
  std::vector<UnitPlan> units(layers.size());
  for (int i = 0; i < recipe.n_layers; ++i) {
    UnitPlan& unit = units[i];
    unit.work = layers[i];
    const bool is_block = unit.work.kind == UnitKind::block;
    const Recompute again =
        is_block ? run.strategy.checkpointing.recompute(i - recipe.first_block) : Recompute::nothing;
    const LayerSeconds seconds = time.seconds(unit.work, again, recipe.recomputed_work(i, again), tokens);
    unit.forward = seconds.forward, unit.backward = seconds.backward;
    if (unit.work.unit_elements == 0) continue;  // its unit is that of the first layer
    plan_exchange(recipe, run, collectives, unit);
    if (unit.work.is_trained)
      unit.update = time.moving(static_cast<double>(unit.work.unit_elements) / shards * updated);
  }
  return units;
}

/// Seconds in which kernels wait for copies from and to the host: the time that the link takes, less that of kernels.
double waiting_for_host(const plan::Memory& memory, const PlannedRun& run, double computing) {
  const double passes = static_cast<double>(run.micro_batches);
  const double bytes = 2.0 * static_cast<double>(memory.host_optimizer) +
                       passes * 2.0 * static_cast<double>(memory.host_activations + memory.host_params);
  return std::max(0.0, bytes / run.cluster.gpu->host_bandwidth - computing);
}

}  // namespace

StepPrediction predict(const plan::PlannedRecipe& recipe, const PlannedRun& run, const Calibration& calibration) {
  StepPrediction prediction;
  prediction.memory = memory_on_gpu(recipe, run.strategy, run.ranks, run.micro_batch);
  prediction.fits = fits(prediction.memory, *run.cluster.gpu);
  const std::vector<UnitPlan> units = plan_units(recipe, run, prediction.memory, calibration);
  for (const UnitPlan& unit : units) prediction.update_seconds += unit.update;

  StepSimulation simulation(units, run, calibration.contention);
  simulation.step();  // the next one begins while collectives of this one are still in flight
  const double began = simulation.timeline().now(), exposed = simulation.timeline().exposed(),
               before = simulation.communication();
  simulation.step();
  const double seconds = simulation.timeline().now() - began;
  prediction.communication_seconds = simulation.communication() - before;
  prediction.exposed_seconds = simulation.timeline().exposed() - exposed;
  prediction.step_seconds = seconds + waiting_for_host(prediction.memory, run, seconds);

  const double tokens = static_cast<double>(run.micro_batches * run.micro_batch * recipe.trunk->context_length);
  const double peak = peak_flops(*run.cluster.gpu, recipe.product_dtype);
  const plan::FlopsPerToken flops = recipe.flops(run.micro_batch, run.ranks);
  prediction.tokens_per_second = tokens / prediction.step_seconds;
  prediction.mfu = prediction.tokens_per_second * flops.exact / peak;
  prediction.mfu_palm = prediction.tokens_per_second * flops.palm / peak;
  return prediction;
}

}  // namespace monomorph::train
