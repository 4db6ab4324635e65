#pragma once
#include <array>  // std::size, which <iterator> brings with streams and locales
#include <monomorph/plan/strategy.hpp>

/// What makes a recipe need less memory for more time. The rule about budgets tries these changes in constant
/// expressions (rule/budget_rule.hpp), and a run that finds too little memory does while it starts
/// (src/train/describe/memory_advice.cpp).
namespace monomorph::plan {

/// `macro(name, words)` for each change of policies, with what to do in a message's words. The choices of `selective`
/// are not among them: a message has them besides.
// clang-format off
#define MONOMORPH_MEMORY_CHANGES(macro)                                                             \
  macro(shard_optimizer, "change sharding to ShardOptimizer")                                       \
  macro(recompute_cheap, "change checkpointing to RecomputeCheap")                                  \
  macro(shard_grad_op, "change sharding to ShardGradOp")                                            \
  macro(full_shard, "change sharding to FullShard")                                                 \
  macro(host_state, "put the optimizer in HostState")                                               \
  macro(offload, "put checkpointing in Offload")                                                    \
  macro(selective, "change checkpointing to Selective<Recompute{...}>")                             \
  macro(every_block, "change checkpointing to EveryBlock")                                          \
  macro(full_shard_and_every_block, "change sharding to FullShard and checkpointing to EveryBlock") \
  macro(all_on_host, "change sharding to HostParameters<FullShard>, put the optimizer in HostState, " \
                     "change checkpointing to EveryBlock")
// clang-format on

#define MONOMORPH_NAME(name, words) name,
enum class PolicyChange { none, MONOMORPH_MEMORY_CHANGES(MONOMORPH_NAME) };
#undef MONOMORPH_NAME

/// A change, alone or together with a smaller micro-batch.
struct MemoryChange {
  PolicyChange policies = PolicyChange::none;
  bool smaller_micro_batch = false;
  friend constexpr bool operator==(const MemoryChange&, const MemoryChange&) = default;
};

/// In the order of what they cost.
inline constexpr MemoryChange memory_changes[] = {
    {PolicyChange::shard_optimizer},   // ranks exchange as many bytes as with Replicate
    {PolicyChange::recompute_cheap},   // computes norms and activation functions twice: a few percent
    {PolicyChange::shard_grad_op},     // gradients are reduced once for every micro-batch
    {PolicyChange::full_shard},        // ranks exchange half as many bytes again
    {PolicyChange::host_state},        // master and state come to the device and go back once a step
    {PolicyChange::none, true},        // makes matrix products smaller
    {PolicyChange::offload},           // activations go to the host and come back for every micro-batch
    {PolicyChange::selective},         // computes some products twice: the choices that fit for the fewest operations
    {PolicyChange::full_shard, true},  // both: more exchange for a token, but nothing is computed twice
    {PolicyChange::every_block},       // computes forward twice: a third more arithmetic
    {PolicyChange::full_shard_and_every_block},
    {PolicyChange::every_block, true},  // both again, and without the exchange: the last that one rank has
    {PolicyChange::full_shard_and_every_block, true},
    {PolicyChange::all_on_host, true},  // the same, and parameters come to the device for every use
};
inline constexpr int n_memory_changes = static_cast<int>(std::size(memory_changes));

/// In main memory nothing is gained by what waits on the host.
constexpr bool needs_own_memory(PolicyChange change) {
  return change == PolicyChange::host_state || change == PolicyChange::offload || change == PolicyChange::all_on_host;
}
constexpr bool needs_ranks(PolicyChange change) {
  return change == PolicyChange::shard_optimizer || change == PolicyChange::shard_grad_op ||
         change == PolicyChange::full_shard || change == PolicyChange::full_shard_and_every_block;
}

/// What is computed again of all blocks alike.
template <Recompute what> constexpr Recompute recompute_always(int /*block*/) { return what; }

/// A strategy on dp ranks with a change. What waits on the host goes on to do so.
/// @param selected what blocks compute again where that is the change
constexpr Strategy changed(Strategy strategy, PolicyChange change, int dp,
                           Recompute (*selected)(int block) = recompute_always<Recompute::nothing>) {
  const auto shard = [&](bool parameters, bool gradients) {
    strategy.sharding = {dp, parameters, gradients, strategy.sharding.parameter_space};
  };
  const auto compute_blocks_again = [&] { strategy.checkpointing.recompute = recompute_always<Recompute::block>; };
  switch (change) {
    case PolicyChange::none:
      break;
    case PolicyChange::recompute_cheap:
      strategy.checkpointing.recompute = recompute_always<Recompute::cheap>;
      break;
    case PolicyChange::shard_optimizer:
      shard(false, false);
      break;
    case PolicyChange::shard_grad_op:
      shard(false, true);
      break;
    case PolicyChange::full_shard:
      shard(true, true);
      break;
    case PolicyChange::host_state:
      strategy.state_waits_on_host = true;
      break;
    case PolicyChange::offload:
      strategy.checkpointing.offloads = [](int /*block*/) { return true; };
      break;
    case PolicyChange::selective:
      strategy.checkpointing.recompute = selected;
      break;
    case PolicyChange::every_block:
      compute_blocks_again();
      break;
    case PolicyChange::full_shard_and_every_block:
      shard(true, true);
      compute_blocks_again();
      break;
    case PolicyChange::all_on_host:
      shard(true, true);
      strategy.sharding.parameter_space = MemorySpace::host;
      strategy.state_waits_on_host = true;
      compute_blocks_again();
      break;
  }
  return strategy;
}

}  // namespace monomorph::plan
