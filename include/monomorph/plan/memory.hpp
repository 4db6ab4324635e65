#pragma once
#include <monomorph/plan/activations.hpp>
#include <monomorph/plan/communication.hpp>
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::plan {

/// The bytes of one rank, by kind. Every buffer begins at a multiple of 64 bytes.
struct Memory {
  std::int64_t master = 0;          ///< the optimiser's parameters; with no copy in compute dtype also those of compute
  std::int64_t compute_params = 0;  ///< this rank's part of the copy in the compute dtype
  std::int64_t gathered_params = 0;  ///< whole units in use, where parameters are sharded
  std::int64_t gradients = 0;
  std::int64_t gathered_gradients = 0;
  std::int64_t moments = 0;
  std::int64_t activations = 0;
  std::int64_t statistics = 0;  ///< norm statistics, log-sum-exps, logits of a chunk
  std::int64_t rotary = 0;
  std::int64_t communication = 0;  ///< the communicator's; all else is in the arena
  constexpr std::int64_t arena() const {
    return master + compute_params + gathered_params + gradients + gathered_gradients + moments + activations +
           statistics + rotary;
  }
  constexpr std::int64_t total() const { return arena() + communication; }
};

/// @param dp data-parallel ranks   @param micro_batch sequences per rank and forward pass
template <class R> constexpr Memory memory(int dp, std::int64_t micro_batch) {
  using Precision = typename R::precision;
  const Shards<R> shards(dp);
  const Activations<R> activations(micro_batch);
  const auto own = shards.own_buffer.elements;
  const auto compute = size_of(Precision::compute_dtype), gradient = size_of(Precision::gradient_dtype),
             master = size_of(Precision::master_dtype);
  const auto statistic = size_of(statistics_dtype(Precision::compute_dtype));
  Memory bytes;
  bytes.master = own * master;
  if (keeps_master_copy<Precision>) bytes.compute_params = own * compute;
  bytes.gathered_params = shards.whole_params_buffer.elements * compute;
  bytes.gradients = own * gradient;
  bytes.gathered_gradients = shards.whole_gradients_buffer.elements * gradient;
  bytes.moments = R::optimizer::moments * own * master;
  bytes.activations = activations.buffer.elements * compute;
  bytes.statistics = activations.statistics.elements * statistic;
  if (R::model.position == Position::rotary)
    bytes.rotary = 2 * align_up(R::model.context_length * (R::model.head_width() / 2)) * statistic;
  bytes.communication = communication_bytes(dp);
  return bytes;
}

template <class R> constexpr std::int64_t bytes_per_rank(int dp, std::int64_t micro_batch) {
  return memory<R>(dp, micro_batch).total();
}

}  // namespace monomorph::plan
