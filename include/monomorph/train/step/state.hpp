#pragma once
#include <monomorph/core/owned.hpp>
#include <monomorph/model/autograd_tape.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/runtime/kernels/kernels.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>
#include <monomorph/train/step/activation_store.hpp>
#include <monomorph/train/step/optimizer_store.hpp>
#include <monomorph/train/step/rotary_tables.hpp>
#include <monomorph/train/step/scalar_store.hpp>
#include <monomorph/train/step/teacher.hpp>

namespace monomorph::train {

/// All memory of a rank: an arena in each memory space, and the stores that share them.
template <Recipe R> class State {
  static constexpr bool uses_host = plan::OptimizerBuffers<R>::on_host || plan::offloads_some<R>;
  using Queue = typename device_of<R>::Queue;
  Queue queue_;
  plan::Shards<R> shards_;  // before the stores, which refer to it and to what follows
  plan::Memory planned_;
  Arena arena_, host_arena_;
  /// What kernels keep beside the arenas is there or refused before the step begins, as they are.
  struct BesideArenas {
    BesideArenas(Queue queue, const plan::Memory& planned, std::int64_t micro_batch) {
      if constexpr (ReservesMemory<Queue>)
        reserve_memory(queue, planned.device_workspace, micro_batch * trunk_of<R>.context_length);
    }
  };
  [[no_unique_address]] BesideArenas beside_arenas_;
  Owned<TransfersOf<Queue>> transfers_;

  /// @param multiplies whole micro-batches   @throws UsageError [GPU-09] products of fp8 are more than the device has
  static Queue queue_with_kernels(bool multiplies) {
    const Queue queue{};
    if constexpr (scales_products<typename R::precision>)
      if (multiplies) require_scaled_products(queue);
    return queue;
  }

 public:
  /// @param micro_batch 0 if nothing but token passes is asked of it
  /// @param tree_levels plan::tree_levels for gradients that are added up in a fixed tree; 0 for any order
  State(Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels,
        Transfers::Timing timing, plan::Purpose purpose)
      : queue_(queue_with_kernels(micro_batch > 0)),
        shards_(plan::sharding_values<typename R::sharding>(communicator.size()), purpose),
        planned_(plan::memory_with<R>(plan::with(plan::strategy_of<R>(communicator.size()), purpose),
                                      communicator.size(), micro_batch, tree_levels)),
        arena_(planned_.arena(), allocator(queue_)),
        host_arena_(planned_.host(), host_allocator(queue_)),
        beside_arenas_(queue_, planned_, micro_batch),
        transfers_(uses_host ? new TransfersOf<Queue>(transfers(queue_, timing)) : nullptr),
        collectives(queue_, communicator),
        parameters(collectives, shards_, arena_, host_arena_, transfers_.get()),
        gradients(queue_, collectives, shards_, arena_, tree_levels),
        optimizer(queue_, shards_, communicator.shard_index(), seed, arena_, host_arena_, transfers_.get(), parameters,
                  gradients),
        activations(micro_batch, communicator.size(), purpose, arena_, host_arena_, transfers_.get()),
        scalars(queue_, communicator.size(), arena_),
        batch_(micro_batch),
        seed_(seed),
        tables_(queue_, arena_) {}

  QueuedCommunicator<Queue> collectives;
  ParameterStore<R> parameters;
  GradientStore<R> gradients;
  OptimizerStore<R> optimizer;
  ActivationStore<R> activations;
  ScalarStore<R> scalars;
  static constexpr bool is_taught = has_teacher<objective_of<R>>;
  using TeacherOrNone = std::conditional_t<is_taught, TeacherPlace<R>, NoTeacher>;
  [[no_unique_address]] TeacherOrNone teacher;

  void take_teacher() { teacher.take(queue_, collectives.behind(plan::n_stored_units<R>), transfers_.get(), batch_); }
  Queue queue() const { return queue_; }
  /// What is given to the queue from now on runs when all copies from and to the host are done.
  void wait_for_transfers() const {
    if (transfers_) transfers_->wait_for_all();
  }
  /// After a recording that failed, nothing has run of what was given to the queue since it began: where parameters,
  /// gradients and state are must be found out anew.
  void forget() {
    parameters.changed();
    gradients.forget();
    optimizer.forget();
    teacher.forget();
    if (transfers_) transfers_->forget();
  }
  std::int64_t batch() const { return batch_; }
  const Arena& arena() const { return arena_; }
  const Arena& host_arena() const { return host_arena_; }
  const RotaryTables<R>& rotary_tables() const { return tables_; }

  /// What a layer may touch; the pass's own fields are the caller's to fill in.
  LayerTensors<R> tensors(int layer) {
    const int u = plan::unit_of_layer<R>(layer);
    LayerTensors<R> t{};
    t.queue = queue_;
    t.block = plan::block_of_layer<R>(layer);
    t.params = parameters.of_unit(u);
    t.gradients = gradients.of_unit(u);
    t.x_MD = activations.y_MD(layer - 1);
    t.y_MD = activations.y_MD(layer);
    t.dx_MD = activations[activations.plan().dx_MD];
    t.activations = activations.activations();
    t.statistics = activations.statistics();
    t.temporary_offset = activations.plan().temporary.offset;
    t.rotary_cos_TH = tables_.of_layer(layer).cos_TH;
    t.rotary_sin_TH = tables_.of_layer(layer).sin_TH;
    t.batch = batch_;
    t.tokens = trunk_of<R>.context_length;
    t.recomputes = plan::recomputed<R>(layer) == Recompute::block;
    t.tape = &tape_;
    t.scalars = scalars.get();
    t.dropout.seed = seed_;
    t.dropout.tokens_per_sample = t.tokens;
    return t;
  }

 private:
  std::int64_t batch_;
  std::uint64_t seed_;
  RotaryTables<R> tables_;
  AutogradTape tape_;
};

}  // namespace monomorph::train
