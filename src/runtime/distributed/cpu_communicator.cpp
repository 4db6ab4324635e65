#include "runtime/distributed/cpu_communicator.hpp"

#include "runtime/distributed/failures.hpp"

#include <monomorph/plan/communication.hpp>

namespace monomorph::distributed {
namespace {

/// Adds to the message about a rank that fails what it was needed for.
template <class Act> void doing(std::string (*what)(int), int unit, Act act) {
  try {
    act();
  } catch (const RankFailure& failure) {
    throw failure.during(what(unit));
  }
}

View all_of(Arena& arena) { return arena.take(arena.bytes() / size_of(DType::fp64), DType::fp64); }

}  // namespace

CpuCommunicator::CpuCommunicator(std::unique_ptr<Peers> peers, int shards, DType wire)
    : GroupedCommunicator(peers->rank(), peers->size(), shards),
      peers_(std::move(peers)),
      staging_(plan::staging_bytes(size())),
      gather_exchange_(*peers_, shard_ranks(), Channel::gather),
      shard_exchange_(*peers_, shard_ranks(), Channel::reduce),
      replica_exchange_(*peers_, replica_ranks(), Channel::reduce),
      reduction_(shard_exchange_, replica_exchange_, all_of(staging_), wire) {}

CpuCommunicator::Started& CpuCommunicator::started(int unit) {
  if (unit >= static_cast<int>(started_.size())) started_.resize(unit + 1);
  return started_[unit];
}

void CpuCommunicator::begin_gather(int unit, View own, View whole) {
  started(unit).gather = gathers_.submit([this, unit, own, whole, trace = trace()] {
    const TraceSpan span(trace, Trace::Row::gather, "gather", unit);
    doing(gathering, unit, [&] { all_gather_(gather_exchange_, own, {whole, own.elements()}); });
  });
}

void CpuCommunicator::begin_reduce(int unit, View whole, View own, Reduction reduction) {
  started(unit).reduce = reductions_.submit([this, unit, whole, own, reduction, trace = trace()] {
    const TraceSpan span(trace, Trace::Row::reduce, "reduce", unit);
    doing(reducing, unit, [&] { reduction_(whole, own, reduction); });
  });
}

/// No collective of the unit is running afterwards, not even if this throws, so its memory may be freed.
void CpuCommunicator::finish(int unit) {
  const Started jobs = started(unit);
  try {
    gathers_.wait(jobs.gather);
  } catch (...) {
    reductions_.settle(jobs.reduce);
    throw;
  }
  reductions_.wait(jobs.reduce);
}

void CpuCommunicator::count_bytes(plan::Traffic& traffic) const {
  const auto sent_to = [this](const RankGroup& group, Channel channel) {
    std::int64_t bytes = 0;
    for (const int other : group.ranks) bytes += peers_->sent_bytes(other, channel);
    return bytes;
  };
  traffic.gathers.bytes = sent_to(shard_ranks(), Channel::gather);
  traffic.reductions.bytes = sent_to(shard_ranks(), Channel::reduce);
  traffic.replica_reductions.bytes = sent_to(replica_ranks(), Channel::reduce);
}

void CpuCommunicator::sum_words(std::span<std::int64_t> words) {
  const auto n = static_cast<std::int64_t>(words.size());
  others_words_.resize(words.size() * size());
  const auto view_of = [n](std::int64_t* first) {
    return View(reinterpret_cast<std::byte*>(first), DType::fp64, {1, n});  // 8 bytes each; none computes with them
  };
  doing(adding_words, 0, [&] {
    for (int other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      messages_.push_back(peers_->receive(other, Channel::sum, view_of(&others_words_[other * n])));
      messages_.push_back(peers_->send(other, Channel::sum, view_of(words.data())));
    }
    for (Peers::Message& message : messages_) message.wait();
  });
  messages_.clear();
  for (int other = 0; other < size(); ++other)
    if (other != rank())
      for (std::int64_t i = 0; i < n; ++i) words[i] += others_words_[other * n + i];
}

}  // namespace monomorph::distributed
