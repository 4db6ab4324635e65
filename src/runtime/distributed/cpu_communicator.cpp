#include "runtime/distributed/cpu_communicator.hpp"

#include "runtime/distributed/failures.hpp"

#include <monomorph/plan/communication.hpp>

#include <algorithm>

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

CpuCommunicator::CpuCommunicator(std::unique_ptr<PointToPoint> point_to_point, RankGroup group, int shards, DType wire)
    : GroupedCommunicator(std::move(group), shards),
      point_to_point_(std::move(point_to_point)),
      staging_(plan::staging_bytes(size())),
      gather_all_to_all_(*point_to_point_, shard_ranks(), Channel::all_gather),
      shard_all_to_all_(*point_to_point_, shard_ranks(), Channel::reduce_scatter),
      replica_all_to_all_(*point_to_point_, replica_ranks(), Channel::reduce_scatter),
      reduction_(shard_all_to_all_, replica_all_to_all_, all_of(staging_), wire) {}

CpuCommunicator::Started& CpuCommunicator::started(int unit) {
  if (unit >= static_cast<int>(started_.size())) started_.resize(unit + 1);
  return started_[unit];
}

void CpuCommunicator::begin_all_gather(std::span<const UnitGather> units) {
  for (const UnitGather& one : units)
    started(one.unit).all_gather = all_gather_queue_.submit([this, one, trace = trace()] {
      const auto& [unit, shard, unsharded] = one;
      const TraceSpan span(trace, TraceRow::all_gather, "gather", unit);
      doing(gathering, unit, [&] { all_gather_(gather_all_to_all_, shard, {unsharded, shard.elements()}); });
    });
}

void CpuCommunicator::begin_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) {
  started(unit).reduce_scatter = reduction_queue_.submit([this, unit, unsharded, shard, reduction, trace = trace()] {
    const TraceSpan span(trace, TraceRow::reduce_scatter, "reduce", unit);
    doing(reducing, unit, [&] { reduction_(unsharded, shard, reduction); });
  });
}

void CpuCommunicator::begin_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) {
  started(unit).all_gather = all_gather_queue_.submit([this, unit, sent, received, trace = trace()] {
    const TraceSpan span(trace, TraceRow::all_gather, "exchange", unit);
    doing(exchanging_units, unit, [&] { exchange_(gather_all_to_all_, sent, received); });
  });
}

/// No collective of the unit is running afterwards, not even if this throws, so its memory may be freed.
void CpuCommunicator::finish(int unit) {
  const Started jobs = started(unit);
  try {
    all_gather_queue_.wait(jobs.all_gather);
  } catch (...) {
    reduction_queue_.settle(jobs.reduce_scatter);
    throw;
  }
  reduction_queue_.wait(jobs.reduce_scatter);
}

void CpuCommunicator::count_bytes(plan::Traffic& traffic) const {
  const auto sent_to = [this](const RankGroup& group, Channel channel) {
    std::int64_t bytes = 0;
    for (const int other : group.ranks) bytes += point_to_point_->sent_bytes(other, channel);
    return bytes;
  };
  traffic.gathers.bytes = sent_to(shard_ranks(), Channel::all_gather);
  traffic.reductions.bytes = sent_to(shard_ranks(), Channel::reduce_scatter);
  traffic.replica_reductions.bytes = sent_to(replica_ranks(), Channel::reduce_scatter);
  traffic.batch_gathers.bytes = sent_to(all_ranks(), Channel::batch);
}

void CpuCommunicator::all_reduce_words(std::span<std::int64_t> words) {
  exchange_words(words, [=](std::size_t i, std::int64_t others) { words[i] += others; });
}
void CpuCommunicator::start_all_reduce_max(View words) {
  const std::span own(words.as<std::int64_t>(), static_cast<std::size_t>(words.elements()));
  exchange_words(own, [=](std::size_t i, std::int64_t others) { own[i] = std::max(own[i], others); });
}

/// Calls join(i, word) for the i-th word of each other rank, when all have come.
void CpuCommunicator::exchange_words(std::span<const std::int64_t> words, auto&& join) {
  const auto n = static_cast<std::int64_t>(words.size());
  others_words_.resize(words.size() * size());
  const auto view_of = [n](const std::int64_t* first) {
    return View(reinterpret_cast<std::byte*>(const_cast<std::int64_t*>(first)), DType::fp64,
                {1, n});  // 8 bytes each; none computes with them
  };
  doing(adding_words, 0, [&] {
    for (int other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      const int peer = all_ranks().ranks[other];
      messages_.push_back(point_to_point_->receive(peer, Channel::all_reduce, view_of(&others_words_[other * n])));
      messages_.push_back(point_to_point_->send(peer, Channel::all_reduce, view_of(words.data())));
    }
    finish_messages();
  });
  for (int other = 0; other < size(); ++other)
    if (other != rank())
      for (std::int64_t i = 0; i < n; ++i) join(static_cast<std::size_t>(i), others_words_[other * n + i]);
}

void CpuCommunicator::gather_all_parts(View all) {
  const std::int64_t n = all.shape.rows / size();
  doing(gathering_batch, 0, [&] {
    for (int other = 0; other < size(); ++other) {
      if (other == rank()) continue;
      const int peer = all_ranks().ranks[other];
      messages_.push_back(point_to_point_->receive(peer, Channel::batch, all.rows(other * n, n)));
      messages_.push_back(point_to_point_->send(peer, Channel::batch, all.rows(rank() * n, n)));
    }
    finish_messages();
  });
}

void CpuCommunicator::exchange(int other, View sent, View received) {
  const int peer = all_ranks().ranks[other];
  doing(exchanging, other, [&] {
    messages_.push_back(point_to_point_->receive(peer, Channel::batch, received));
    messages_.push_back(point_to_point_->send(peer, Channel::batch, sent));
    finish_messages();
  });
}

void CpuCommunicator::finish_messages() {
  for (PointToPoint::Message& message : messages_) message.wait();
  messages_.clear();
}

}  // namespace monomorph::distributed
