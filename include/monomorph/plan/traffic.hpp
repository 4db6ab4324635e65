#pragma once
#include <monomorph/plan/teacher.hpp>
#include <monomorph/plan/transform_turns.hpp>
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph::plan {

/// Collectives of one kind that a rank takes part in, and the bytes that it sends.
struct CollectiveTraffic {
  std::int64_t collectives = 0, bytes = 0;
  constexpr void add(std::int64_t sent) { ++collectives, bytes += sent; }
  friend constexpr bool operator==(const CollectiveTraffic&, const CollectiveTraffic&) = default;
};

/// What a rank sends in an optimiser step, by the group that it sends to.
struct Traffic {
  CollectiveTraffic gathers;     ///< of parameters, among the ranks that hold one copy together; and of matrices
                                 ///< that the optimiser transforms, both ways
  CollectiveTraffic reductions;  ///< of gradients, among the same ranks
  CollectiveTraffic replica_reductions;  ///< of reduced gradients, among the ranks that hold the same shard
  CollectiveTraffic batch_gathers;       ///< of what all ranks make of their micro-batches: an encoder's embeddings
  friend constexpr bool operator==(const Traffic&, const Traffic&) = default;
};

/// Elements of part i of a buffer that is divided among `parts` ranks. All parts but the last ones have the same
/// length.
constexpr std::int64_t part_length(std::int64_t elements, int parts, int i) {
  const std::int64_t part = align_up((elements + parts - 1) / parts);
  return clamped(elements - i * part, 0, part);
}

/// Whether parameters that were gathered for forward and released are gathered for backward, too: but a look-up's, and
/// those of the last layer and of the one before, which stay.
template <class R> constexpr bool gathered_for_backward(int u) {
  return backward_reaches<R>(u) && backward_reads<R>(u) && u < last_layer<R> - 1;
}

/// How often a unit's parameters are gathered in a step.
template <class R> constexpr std::int64_t gathers_per_step(int u, std::int64_t micro_batches) {
  // Parameters that stay are gathered when they have changed,
  if (!R::sharding::splits_parameters || (Shards<R>::resident(u) && !trains<R>(u))) return trains<R>(u) ? 1 : 0;
  return micro_batches * (gathered_for_backward<R>(unit_of_stored<R>(u)) ? 2 : 1);  // others for every pass
}

/// Elements that the last layer of a rank shows to all others in a micro-batch of M tokens.
template <class R> constexpr std::int64_t gathered_of_batch(std::int64_t M) {
  if constexpr (requires { LastLayer<R>::gathered_elements(M); })
    return LastLayer<R>::gathered_elements(M);
  else
    return 0;
}

/// Adds what ranks gather of a teacher: parameters that are released after a pass, for every pass, and others in a
/// run's first step alone.
template <class R> constexpr void add_teacher(CollectiveTraffic& gathers, int dp, std::int64_t micro_batches) {
  if constexpr (has_teacher<objective_of<R>>) {
    using Teacher = TeacherOf<R>;
    const Shards<Teacher> shards(dp);
    if (shards.shards == 1 || !R::sharding::splits_parameters) return;
    for (int u = 0; u < n_units<Teacher>; ++u)
      for (std::int64_t i = 0; i < micro_batches; ++i)
        gathers.add((shards.shards - 1) * shards.part[u] * size_of(R::precision::compute_dtype));
  }
}

/// Adds what a rank sends so that matrices are transformed whole: its shards to the ranks whose turn it is, and what
/// has become of a unit that was its own turn to the others; or what each rank gathers, if they take no turns.
/// @param rank in its group of `shards`
template <class R> constexpr void add_transforms(CollectiveTraffic& gathers, const Shards<R>& shards, int rank) {
  int n_transformed = 0;
  for (int u = 0; u < n_stored_units<R>; ++u) {
    if (!transforms<R>(u)) continue;
    const std::int64_t shard = shards.part[u] * size_of(R::precision::gradient_dtype),
                       others = (shards.shards - 1) * shard;
    const TransformTurn turn = transform_turn(n_transformed++, shards.shards);
    if (!shares_transforms<R>) {
      gathers.add(others);
      continue;
    }
    if (turn.rank == 0) gathers.collectives += 2;  // a round begins
    gathers.bytes += turn.rank == rank ? others : shard;
  }
}

/// The traffic of a training step without evaluation. It is not a run's first step, so the parameters that it needs at
/// its beginning were gathered at the end of the step before.
/// @param micro_batches of a rank's step   @param wire dtype in which gradients travel
/// @param tree_levels as of memory(): a fixed tree's terms are the micro-batches, each reduced among all ranks
/// @param micro_batch samples of one
template <class R>
constexpr Traffic traffic(int dp, int rank, std::int64_t micro_batches, DType wire, int tree_levels = 0,
                          std::int64_t micro_batch = 1) {
  using Sharding = typename R::sharding;
  const Shards<R> shards(dp);
  const int replicas = dp / shards.shards, replica = rank / shards.shards;
  const bool every_micro_batch = tree_levels > 0 || Sharding::splits_gradients;
  Traffic traffic;
  if (const std::int64_t elements = gathered_of_batch<R>(micro_batch * trunk_of<R>.context_length); elements > 0)
    for (std::int64_t i = 0; dp > 1 && i < micro_batches; ++i)
      traffic.batch_gathers.add((dp - 1) * elements * size_of(statistics_dtype(R::precision::compute_dtype)));
  add_teacher<R>(traffic.gathers, dp, micro_batches);
  if (shards.shards > 1) add_transforms<R>(traffic.gathers, shards, rank % shards.shards);
  for (int u = 0; u < n_stored_units<R>; ++u) {
    const std::int64_t shard = shards.part[u], others = (shards.shards - 1) * shard;
    if (shard == 0) continue;
    if (shards.shards > 1) {
      for (std::int64_t i = 0; i < gathers_per_step<R>(u, micro_batches); ++i)
        traffic.gathers.add(others * size_of(R::precision::compute_dtype));
      for (std::int64_t i = 0; trains<R>(u) && i < (every_micro_batch ? micro_batches : 1); ++i)
        traffic.reductions.add(others * size_of(wire));
    }
    if (replicas == 1 || !trains<R>(u)) continue;
    const std::int64_t part = part_length(shard, replicas, replica);
    for (std::int64_t i = 0; i < (tree_levels > 0 ? micro_batches : 1); ++i)
      traffic.replica_reductions.add((shard - part) * size_of(wire) +
                                     (replicas - 1) * part * size_of(R::precision::gradient_dtype));
  }
  return traffic;
}

}  // namespace monomorph::plan
