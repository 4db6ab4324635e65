#include "runtime/distributed/grouped_communicator.hpp"

#include <utility>

namespace monomorph::distributed {
namespace {

void add_to(plan::Traffic& sum, const plan::Traffic& term, int times) {
  const auto add = [times](plan::CollectiveTraffic& to, const plan::CollectiveTraffic& of) {
    to.collectives += times * of.collectives;
    to.bytes += times * of.bytes;
  };
  add(sum.gathers, term.gathers);
  add(sum.reductions, term.reductions);
  add(sum.replica_reductions, term.replica_reductions);
  add(sum.batch_gathers, term.batch_gathers);
}

}  // namespace

plan::Traffic difference(const plan::Traffic& all, const plan::Traffic& before) {
  plan::Traffic difference = all;
  add_to(difference, before, -1);
  return difference;
}

GroupedCommunicator::GroupedCommunicator(RankGroup group, int shards)
    : group_(std::move(group)),
      shard_group_(shard_group(group_, shards)),
      replica_group_(replica_group(group_, shards)) {}

void GroupedCommunicator::start_all_gather(std::span<const UnitGather> units) {
  if (shards() == 1) return;
  started_.gathers.collectives += std::ssize(units);
  begin_all_gather(units);
}

void GroupedCommunicator::start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) {
  if (shards() == 1 && !reduction.last) return;  // one buffer, in which gradients accumulate
  if (shards() > 1) ++started_.reductions.collectives;
  if (replica_group_.size() > 1 && reduction.last) ++started_.replica_reductions.collectives;
  begin_reduce_scatter(unit, unsharded, shard, reduction);
}

void GroupedCommunicator::start_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) {
  if (shards() == 1) return;
  ++started_.gathers.collectives;
  begin_all_to_all(unit, sent, received);
}

void GroupedCommunicator::gather_parts(View all) {
  ++started_.batch_gathers.collectives;
  gather_all_parts(all);
}

plan::Traffic GroupedCommunicator::traffic() const {
  plan::Traffic traffic = started_;
  count_bytes(traffic);
  add_to(traffic, again_, 1);
  return traffic;
}

void GroupedCommunicator::count_again(const plan::Traffic& traffic, int times) { add_to(again_, traffic, times); }

}  // namespace monomorph::distributed
