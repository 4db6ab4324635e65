#include "train/scaling/step_prediction.hpp"

#include "train/scaling/device_memory.hpp"
#include "train/scaling/layer_time.hpp"
#include "train/scaling/rounds_on_timeline.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

/// The schedule of train/step/step.hpp and of the stores beside it, with seconds in place of work.
class StepSimulation {
 public:
  /// @param teacher no units without one
  StepSimulation(std::vector<UnitPlan> units, std::vector<UnitPlan> teacher, const PlannedRun& run,
                 bool shares_transforms)
      : run_(run),
        units_(std::move(units), releases(run), timeline_),
        rounds_(units_, run.strategy.sharding.shards, shares_transforms, timeline_),
        teacher_(std::move(teacher), releases(run), timeline_),
        reduced_(static_cast<std::size_t>(units_.last() + 1)) {}

  void step() {
    for (std::int64_t i = 0; i < run_.micro_batches; ++i) {
      ask_teacher();
      units_.forward();
      backward(i);
    }
    timeline_.wait_for_all();
    update();
  }
  const StepTimeline& timeline() const { return timeline_; }
  double transform_seconds() const { return rounds_.transform_seconds(); }

 private:
  static bool releases(const PlannedRun& run) {
    return run.strategy.sharding.splits_parameters && run.strategy.sharding.shards > 1;
  }
  int last() const { return units_.last(); }
  bool has_teacher() const { return teacher_.last() >= 0; }

  /// All but the logits, which are made where the student's are.
  void ask_teacher() {
    if (!has_teacher()) return;
    teacher_.forward();
    teacher_.await(teacher_.last());
  }
  void compare_with_teacher() {
    if (!has_teacher()) return;
    const int last_of_teacher = teacher_.last();
    timeline_.compute(teacher_[last_of_teacher].forward);
    for (const int layer : {last_of_teacher - 1, last_of_teacher}) teacher_.release(layer, true);
  }

  /// The head goes forward and backward at once.
  void backward(std::int64_t micro_batch) {
    for (int i = last(); i >= 0; --i) {
      const UnitPlan& layer = units_[i];
      if (i < last() && !layer.work.is_reached) break;
      if (i > 0 && units_[i - 1].work.gathered_for_backward) units_.collect(i - 1);
      units_.await(i);
      wait_for_gradient_slot(i);
      if (i == last()) compare_with_teacher();
      timeline_.compute(layer.backward + (i == last() ? layer.forward : 0));
      units_.release(i, units_.is_own(i));
      if (units_.is_own(i) && layer.work.is_trained) reduce(i, micro_batch);
    }
  }
  /// Two slots hold whole gradients where ranks split them between micro-batches.
  void wait_for_gradient_slot(int layer) {
    if (run_.strategy.sharding.splits_gradients && layer + 2 <= last()) timeline_.wait(reduced_[layer + 2]);
  }
  void reduce(int u, std::int64_t micro_batch) {
    const bool is_last = micro_batch == run_.micro_batches - 1;
    if (!run_.strategy.sharding.splits_gradients && !is_last) return;
    reduced_[u] =
        timeline_.communicate(units_[u].reduce + (is_last ? units_[u].reduce_copies : 0), units_[u].reduce_copying);
  }
  void update() {
    rounds_.begin();
    for (int u = 0; u <= last(); ++u) {
      if (!units_.is_own(u)) continue;
      rounds_.before_update(u);
      timeline_.compute(units_[u].update);
      if (units_[u].work.is_trained) units_.changed(u);
      if (!units_.releases() || u <= 1) units_.collect(u);
    }
  }

  const PlannedRun& run_;
  StepTimeline timeline_;
  UnitsOnTimeline units_;
  RoundsOnTimeline rounds_;
  UnitsOnTimeline teacher_;
  std::vector<double> reduced_;  ///< when a unit's gradients are
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

/// Adds the seconds of what ranks exchange of a unit's gradients.
void plan_reduction(const plan::PlannedRecipe& recipe, const PlannedRun& run, const CollectiveTime& collectives,
                    UnitPlan& unit) {
  const int n_shards = run.strategy.sharding.shards;
  const double gradients = bytes_of(unit.work.unit_elements, recipe.reduce_dtype);
  unit.reduce = collectives.gather(shard_group(run.cluster, run.ranks, n_shards), gradients);
  unit.reduce_copies = collectives.all_reduce(replica_group(run.cluster, run.ranks, n_shards), gradients / n_shards);
  unit.reduce_copying = collectives.copying(run.ranks, gradients);
}

/// What layers compute in a micro-batch, and what ranks gather of their units.
/// @param checkpointing null if nothing is computed again, as in a teacher
std::vector<UnitPlan> plan_passes(const plan::PlannedRecipe& model, const PlannedRun& run,
                                  const Calibration& calibration, const plan::CheckpointingValues* checkpointing) {
  const LayerTime time(model, *run.cluster.gpu, calibration);
  const CollectiveTime collectives(run.cluster, calibration);
  const PlacedRanks shards = shard_group(run.cluster, run.ranks, run.strategy.sharding.shards);
  const double tokens = static_cast<double>(run.micro_batch * model.trunk->context_length);
  const double nodes = std::ceil(static_cast<double>(run.ranks) / run.cluster.gpus_per_node);
  const double slower = 1 + calibration.waiting * std::log2(nodes);
  const std::vector<plan::LayerWork> layers = work_of_layers(model);
  std::vector<UnitPlan> units(layers.size());
  for (int i = 0; i < model.n_layers; ++i) {
    UnitPlan& unit = units[i];
    unit.work = layers[i];
    const bool is_block = unit.work.kind == UnitKind::block;
    const Recompute again =
        is_block && checkpointing != nullptr ? checkpointing->recompute(i - model.first_block) : Recompute::nothing;
    const LayerSeconds seconds = time.seconds(unit.work, model.recomputed_work(i, again), tokens);
    unit.forward = slower * seconds.forward, unit.backward = slower * seconds.backward;
    const double parameters = is_block && calibration.rounding
                                  ? static_cast<double>(unit.work.unit_elements) * calibration.rounding->gathered_weight
                                  : bytes_of(unit.work.unit_elements, model.compute_dtype);
    unit.gather = collectives.gather(shards, parameters);
    unit.gather_copying = collectives.copying(shards.ranks, parameters);
  }
  return units;
}

std::vector<UnitPlan> plan_units(const plan::PlannedRecipe& recipe, const PlannedRun& run, const plan::Memory& memory,
                                 const Calibration& calibration) {
  const LayerTime time(recipe, *run.cluster.gpu, calibration);
  const CollectiveTime collectives(run.cluster, calibration);
  const int shards = run.strategy.sharding.shards;
  const double updated = update_bytes_per_element(recipe, state_bytes(memory, work_of_layers(recipe), shards));
  std::vector<UnitPlan> units = plan_passes(recipe, run, calibration, &run.strategy.checkpointing);
  for (UnitPlan& unit : units) {
    if (!unit.work.is_trained || unit.work.unit_elements == 0) continue;  // a tied head's is that of the first layer
    plan_reduction(recipe, run, collectives, unit);
    unit.update = time.moving(static_cast<double>(unit.work.unit_elements) / shards * updated);
    if (!unit.work.needs_whole_gradients) continue;
    unit.transform = time.transforming(unit.work.transform);
    const PlacedRanks group = shard_group(run.cluster, run.ranks, shards);
    const double gradients = bytes_of(unit.work.unit_elements, recipe.gradient_dtype);
    unit.exchange =
        recipe.shares_transforms ? collectives.all_to_all(group, gradients) : collectives.gather(group, gradients);
    unit.exchange_copying = collectives.copying(group.ranks, gradients);
  }
  return units;
}

/// A teacher goes forward alone, and is not updated.
std::vector<UnitPlan> plan_teacher(const plan::PlannedRecipe& recipe, const PlannedRun& run,
                                   const Calibration& calibration) {
  if (recipe.teacher == nullptr) return {};
  return plan_passes(*recipe.teacher, run, calibration, nullptr);
}

/// Seconds in which kernels wait for copies from and to the host: the time that the link takes, less that of kernels
/// beside which they go. The optimiser's state comes and goes within the update, all else within the passes.
double waiting_for_host(const plan::Memory& memory, const PlannedRun& run, double passing, double updating) {
  const auto waiting = [&](double bytes, double computing) {
    return std::max(0.0, bytes / run.cluster.gpu->host_bandwidth - computing);
  };
  const double of_passes = 2.0 * static_cast<double>(memory.host_activations + memory.host_params) +
                           static_cast<double>(memory.host_teacher);
  return waiting(2.0 * static_cast<double>(memory.host_optimizer), updating) +
         waiting(static_cast<double>(run.micro_batches) * of_passes, passing);
}

}  // namespace

StepPrediction predict(const plan::PlannedRecipe& recipe, const PlannedRun& run, const Calibration& calibration) {
  StepPrediction prediction;
  prediction.memory = memory_on_gpu(recipe, run.strategy, run.ranks, run.micro_batch);
  prediction.fits = fits(prediction.memory, *run.cluster.gpu);
  const std::vector<UnitPlan> units = plan_units(recipe, run, prediction.memory, calibration);
  for (const UnitPlan& unit : units) prediction.update_seconds += unit.update;

  StepSimulation simulation(units, plan_teacher(recipe, run, calibration), run, recipe.shares_transforms);
  prediction.update_seconds += simulation.transform_seconds();
  simulation.step();  // the next one begins while collectives of this one are still in flight
  const double began = simulation.timeline().now(), exposed = simulation.timeline().exposed(),
               before = simulation.timeline().communication();
  simulation.step();
  const double seconds = simulation.timeline().now() - began;
  prediction.communication_seconds = simulation.timeline().communication() - before;
  prediction.exposed_seconds = simulation.timeline().exposed() - exposed;
  const double updating = std::min(prediction.update_seconds, seconds);
  prediction.step_seconds = seconds + waiting_for_host(prediction.memory, run, seconds - updating, updating);

  const double tokens = static_cast<double>(run.micro_batches * run.micro_batch * recipe.trunk->context_length);
  const double peak = peak_flops(*run.cluster.gpu, recipe.product_dtype);
  const plan::FlopsPerToken flops = recipe.flops(run.micro_batch, run.ranks);
  prediction.tokens_per_second = tokens / prediction.step_seconds;
  prediction.mfu = prediction.tokens_per_second * flops.exact / peak;
  prediction.mfu_palm = prediction.tokens_per_second * flops.palm / peak;
  return prediction;
}

}  // namespace monomorph::train
