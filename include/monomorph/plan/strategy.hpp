#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/policy/sharding_policy.hpp>

namespace monomorph::plan {

/// What the plan reads of a sharding policy, on so many ranks.
struct ShardingValues {
  int shards = 1;  ///< parts into which ranks split optimiser state, and what else is split
  bool splits_parameters = false, splits_gradients = false;
  MemorySpace parameter_space = MemorySpace::device;
  friend constexpr bool operator==(const ShardingValues&, const ShardingValues&) = default;
};
/// Whether the parameters of layers come to slots that they take in turn.
constexpr bool in_slots(const ShardingValues& sharding) {
  return sharding.parameter_space == MemorySpace::host || (sharding.shards > 1 && sharding.splits_parameters);
}
template <class Policy> constexpr ShardingValues sharding_values(int dp) {
  return {Policy::optimizer_shards(dp), Policy::splits_parameters, Policy::splits_gradients, parameter_space<Policy>};
}

/// What the plan reads of an activation-checkpointing policy, by block.
struct CheckpointingValues {
  Recompute (*recompute)(int block) = nullptr;
  bool (*offloads)(int block) = nullptr;
};
template <class Policy>
inline constexpr CheckpointingValues checkpointing_values{[](int block) { return Policy::recompute(block); },
                                                          offloads<Policy>};

/// What a rank takes memory for. Inference goes forward alone: it has the parameters in the dtype that computes and
/// what one layer computes with, but no gradients, no state of an optimiser, and nothing that a backward would read.
enum class Purpose { training, inference };

/// The two policies that say how memory is paid for with time, as values: one recipe can be planned with many of them
/// and is compiled once.
struct Strategy {
  ShardingValues sharding;
  CheckpointingValues checkpointing;
  bool state_waits_on_host = false;  ///< the optimiser's state, whether its policy says so or not
  Purpose purpose = Purpose::training;
};
template <class R> constexpr Strategy strategy_of(int dp) {
  return {sharding_values<typename R::sharding>(dp), checkpointing_values<typename R::checkpointing>};
}
/// The same for another purpose.
constexpr Strategy with(Strategy strategy, Purpose purpose) {
  strategy.purpose = purpose;
  return strategy;
}

}  // namespace monomorph::plan
