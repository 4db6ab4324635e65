#pragma once
#include <bit>
#include <boost/hana/for_each.hpp>
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/plan/activations.hpp>
#include <monomorph/plan/block_counts.hpp>
#include <monomorph/plan/communication.hpp>
#include <monomorph/plan/optimizer_buffers.hpp>
#include <monomorph/plan/rotary.hpp>
#include <monomorph/plan/teacher.hpp>
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::plan {

/// Partial sums that a binary counter holds before its last term: ⌈log2 n⌉.
/// @param n_micro_batches of a rank's step
constexpr int tree_levels(std::int64_t n_micro_batches) {
  return std::bit_width(static_cast<std::uint64_t>(n_micro_batches - 1));
}

/// What the host has at a time of that which lies in a device's own memory: checkpoints and observers see it piece by
/// piece.
inline constexpr std::int64_t host_staging_bytes = std::int64_t{64} << 20;

/// The bytes of one rank, by kind. Every buffer begins at a multiple of 64 bytes.
struct Memory {
  std::int64_t master = 0;  ///< the optimiser's parameters; without a copy in compute dtype, compute uses them, too
  std::int64_t compute_params = 0;   ///< this rank's part of the copy in the compute dtype
  std::int64_t gathered_params = 0;  ///< whole units, where ranks share the optimiser's, of which a part is this
                                     ///< rank's, or where it lies on the host; and numbers made of what is packed
  std::int64_t gradients = 0;
  std::int64_t gathered_gradients = 0;  ///< whole units' before reduction, as above
  std::int64_t gradient_tree = 0;       ///< partial sums of a fixed tree
  std::int64_t optimizer_state = 0;
  std::int64_t optimizer_workspace = 0;  ///< where whole matrices are transformed
  std::int64_t activations = 0;
  std::int64_t statistics = 0;  ///< norm statistics, log-sum-exps, logits of a chunk
  std::int64_t rotary = 0;
  std::int64_t scalars = 0;               ///< what a step adds up and decides by
  std::int64_t teacher = 0;               ///< another model, and what a pass through it needs; in an arena of its own
  std::int64_t host_params = 0;           ///< this rank's part of what compute reads, in the host's memory
  std::int64_t host_optimizer = 0;        ///< state and master parameters that lie in the host's memory
  std::int64_t host_activations = 0;      ///< what waits there for backward
  std::int64_t host_teacher = 0;          ///< this rank's part of the teacher's parameters, likewise apart
  std::int64_t device_workspace = 0;      ///< of the kernels of a device with a memory of its own, beside the arena
  std::int64_t device_context = 0;        ///< of its driver
  std::int64_t device_communication = 0;  ///< of collectives between devices
  std::int64_t host_staging = 0;          ///< through which the host sees what lies in a device's own memory, and in
                                          ///< which it quantises a matrix
  std::int64_t communication = 0;         ///< the communicator's
  /// A copy of what the rank saves, in main memory, for checkpoints behind the steps. Part of no total: whether a run
  /// has it is a hyperparameter, and so for the run to judge.
  std::int64_t checkpoint_staging = 0;
  bool arena_on_host = true;  ///< the device has no memory of its own
  constexpr std::int64_t arena() const {
    return master + compute_params + gathered_params + gradients + gathered_gradients + gradient_tree +
           optimizer_state + optimizer_workspace + activations + statistics + rotary + scalars;
  }
  /// What lies beside the arena in the memory of the device.
  constexpr std::int64_t beside_arena() const {
    return teacher + device_workspace + device_context + device_communication;
  }
  /// The other arena: what waits in the host's memory.
  constexpr std::int64_t host() const { return host_params + host_optimizer + host_activations; }
  constexpr std::int64_t total() const { return arena() + beside_arena() + on_host(); }
  /// What a budget is compared with: the memory of the device where it has one of its own, or else all.
  constexpr std::int64_t budgeted() const { return arena_on_host ? total() : arena() + beside_arena(); }
  /// What the machine's main memory must have room for.
  constexpr std::int64_t in_main_memory() const { return arena_on_host ? total() : on_host(); }

 private:
  constexpr std::int64_t on_host() const { return host() + host_teacher + host_staging + communication; }
};

/// What a device is told of a layer's attention, by the recipe whose attention and sizes it has.
template <class Tower> constexpr PassExtent layer_extent(std::int64_t micro_batch, Purpose purpose) {
  constexpr const auto& model = trunk_of<Tower>;
  using Attention = attention_of<Tower>;
  return {.batch = micro_batch,
          .tokens = model.context_length,
          .heads = model.n_heads,
          .kv_heads = model.kv_heads(),
          .head_dim = model.head_width(),
          .compute_bytes = size_of(Tower::precision::compute_dtype),
          .mask = Attention::mask,
          .within_documents = Attention::within_documents,
          .tiled = model.attention_kernel == AttentionKernel::tiled,
          .capped = model.soft_cap.scores > 0,
          .with_gradients = purpose == Purpose::training};
}

/// The most of bytes_of(extent) of the recipe's own attention and of those of its layers, which take turns.
template <class R>
constexpr std::int64_t most_of_layers(std::int64_t micro_batch, Purpose purpose,
                                      std::int64_t (*bytes_of)(const PassExtent&)) {
  std::int64_t most = bytes_of(layer_extent<R>(micro_batch, purpose));
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    if constexpr (requires { typename Block::Tower; })
      most = larger_of(most, bytes_of(layer_extent<typename Block::Tower>(micro_batch, purpose)));
  });
  return most;
}

/// What the host has of a matrix while it is quantised: the numbers, the bytes, and a scale of each block in fp32.
template <class R>
inline constexpr std::int64_t quantization_bytes = [] {
  std::int64_t most = 0;
  if constexpr (quantizes<R>)
    for (int unit = 0; unit < n_units<R>; ++unit) {
      const ParameterLayout packed = packed_unit<R>(unit).unpacked;
      for (int i = 0; i < packed.size(); ++i) {
        const std::int64_t elements = packed[i].slice.shape.elements();
        Layout bytes;
        Nf4Places(bytes, elements);
        most = larger_of(most, elements * size_of(R::precision::compute_dtype) + bytes.elements +
                                   elements / Nf4Places::block * size_of(DType::fp32));
      }
    }
  return most;
}();

/// @param strategy on dp data-parallel ranks, which need not be the recipe's own; for inference, without a teacher
/// @param micro_batch sequences per rank and forward pass
/// @param tree_levels of a fixed tree of gradients, see tree_levels(); 0 without one
template <class R>
constexpr Memory memory_with(const Strategy& strategy, int dp, std::int64_t micro_batch, int tree_levels = 0) {
  using Precision = typename R::precision;
  using Optimizer = typename R::optimizer;
  const bool trains = strategy.purpose == Purpose::training;
  const Shards<R> shards(strategy.sharding, strategy.purpose);
  const Activations<R> activations(micro_batch, dp, strategy.sharding, strategy.checkpointing, strategy.purpose);
  const bool on_host = shards.params_on_host();
  const bool alone = shards.shards == 1;  // the whole is this rank's
  const auto compute = size_of(Precision::compute_dtype), gradient = size_of(Precision::gradient_dtype),
             master = size_of(Precision::master_dtype);
  const auto statistic = size_of(statistics_dtype(Precision::compute_dtype));
  Memory bytes;
  const auto state = size_of(state_dtype<Optimizer>(Precision::master_dtype));
  auto& own_params = keeps_master_copy<Precision> || !trains ? bytes.compute_params : bytes.master;
  (on_host ? bytes.host_params : own_params) = shards.params.shards.elements * compute;
  (alone && !on_host ? own_params : bytes.gathered_params) += shards.params.wholes.elements * compute;
  bytes.gathered_params += (shards.arrivals.elements + unpacked_elements<R>)*compute;
  bytes.gradients = shards.gradients.shards.elements * gradient;
  (alone ? bytes.gradients : bytes.gathered_gradients) += shards.gradients.wholes.elements * gradient;
  bytes.gradient_tree = tree_levels * shards.tree_buffer.elements * gradient;
  const OptimizerBuffers<R> optimizer(shards, OptimizerBuffers<R>::on_host || strategy.state_waits_on_host);
  bytes.master += optimizer.masters.elements * master;
  bytes.optimizer_state = optimizer.states.elements * state;
  bytes.host_optimizer = optimizer.host_masters.elements * master + optimizer.host_states.elements * state;
  if (trains) {
    for (int u = 0; u < n_stored_units<R>; ++u)
      bytes.checkpoint_staging +=
          shards.part[u] * (is_packed<R>(u) ? compute : master) + optimizer.state[u].shape.elements() * state;
    bytes.optimizer_workspace = optimizer_workspace_elements<R>() * size_of(statistics_dtype(Precision::master_dtype));
    const TeacherBytes teacher = teacher_bytes<R>(strategy.sharding, micro_batch);
    bytes.teacher = teacher.device;
    bytes.host_teacher = teacher.host;
  }
  bytes.activations = activations.buffer.elements * compute;
  bytes.statistics = activations.statistics.elements * statistic;
  bytes.host_activations =
      activations.host_buffer.elements * compute + activations.host_statistics.elements * statistic;
  bytes.rotary = rotary_elements<R> * statistic;
  bytes.scalars = scalar_bytes<R> + align_up(step_words<R>(dp)) * 8;
  if constexpr (has_own_memory<device_of<R>>) {
    bytes.arena_on_host = false;
    bytes.host_staging = host_staging_bytes;
    bytes.device_workspace = most_of_layers<R>(micro_batch, strategy.purpose, device_workspace_bytes<device_of<R>>);
    bytes.device_context = device_context_bytes<device_of<R>>();
    bytes.device_communication = device_communication_bytes<device_of<R>>(dp);
  }
  bytes.host_staging += quantization_bytes<R>;
  bytes.communication = communication_bytes(dp);
  return bytes;
}

template <class R> constexpr Memory memory(int dp, std::int64_t micro_batch, int tree_levels = 0) {
  return memory_with<R>(strategy_of<R>(dp), dp, micro_batch, tree_levels);
}

template <class R> constexpr std::int64_t bytes_per_rank(int dp, std::int64_t micro_batch) {
  return memory<R>(dp, micro_batch).total();
}

}  // namespace monomorph::plan
