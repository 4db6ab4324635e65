#include "runtime/distributed/cpu_communicator.hpp"

#include <monomorph/runtime/rank_failure.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace monomorph::distributed {
namespace {

/// The ranks first, first + stride, …, n of them.
RankGroup group_of(int first, int stride, int n, int rank) {
  RankGroup group;
  for (int i = 0; i < n; ++i) group.ranks.push_back(first + i * stride);
  group.own = (rank - first) / stride;
  return group;
}

/// A rank that fails is named together with what it was needed for.
template <class Act, class... Arguments>
void doing(Act act, fmt::format_string<Arguments...> what, Arguments... arguments) {
  try {
    act();
  } catch (const RankFailure& failure) {
    throw failure.during(fmt::format(what, std::move(arguments)...));
  }
}

}  // namespace

CpuCommunicator::CpuCommunicator(std::unique_ptr<Peers> peers, int shards, DType wire)
    : peers_(std::move(peers)),
      shard_group_(group_of(peers_->rank() / shards * shards, 1, shards, peers_->rank())),
      replica_group_(group_of(peers_->rank() % shards, shards, peers_->size() / shards, peers_->rank())),
      all_(group_of(0, 1, peers_->size(), peers_->rank())),
      all_gather_(*peers_),
      all_gather_of_sums_(*peers_),
      wire_(wire),
      reduce_scatter_(*peers_, wire) {}

plan::Traffic CpuCommunicator::traffic() const { return traffic_; }

CpuCommunicator::Started& CpuCommunicator::started(int unit) {
  if (unit >= static_cast<int>(started_.size())) started_.resize(unit + 1);
  return started_[unit];
}

void CpuCommunicator::start_gather(int unit, View own, View whole) {
  if (shards() == 1) return;
  traffic_.gathers.add((shards() - 1) * own.bytes());
  started(unit).gather = gathers_.submit([this, unit, own, whole, trace = trace()] {
    const TraceSpan span(trace, Trace::Row::gather, "gather", unit);
    doing(
        [&] {
          all_gather_(shard_group_, Channel::gather, own, {whole, own.elements()});
        },
        "the parameters of unit {} were gathered", unit);
  });
}

void CpuCommunicator::start_reduce(int unit, View whole, View own, Reduction reduction) {
  if (shards() == 1 && !reduction.last) return;  // whole is own, and accumulates by itself
  note_reduction(own, reduction);
  started(unit).reduce = reductions_.submit([this, unit, whole, own, reduction, trace = trace()] {
    const TraceSpan span(trace, Trace::Row::reduce, "reduce", unit);
    doing([&] { reduce_now(whole, own, reduction); }, "the gradients of unit {} were reduced", unit);
  });
}

void CpuCommunicator::note_reduction(View own, Reduction reduction) {
  if (shards() > 1) traffic_.reductions.add((shards() - 1) * own.elements() * size_of(wire_));
  if (replica_group_.size() == 1 || !reduction.last) return;
  const std::int64_t part = replica_parts(own).of(replica_group_.own).elements();
  traffic_.replica_reductions.add((own.elements() - part) * size_of(wire_) +
                                  (replica_group_.size() - 1) * part * size_of(own.dtype));
}

Parts CpuCommunicator::replica_parts(View own) const {
  return {own, plan::align_up((own.elements() + replica_group_.size() - 1) / replica_group_.size())};
}

void CpuCommunicator::reduce_now(View whole, View own, Reduction reduction) {
  if (shards() > 1) reduce_scatter_(shard_group_, Channel::reduce, {whole, own.elements()}, own, reduction.accumulate);
  if (replica_group_.size() == 1 || !reduction.last) return;
  const Parts parts = replica_parts(own);
  const View sum = parts.of(replica_group_.own);
  reduce_scatter_(replica_group_, Channel::reduce, parts, sum, false);
  all_gather_of_sums_(replica_group_, Channel::reduce, sum, parts);
}

void CpuCommunicator::finish(int unit) {
  gathers_.wait(started(unit).gather);
  reductions_.wait(started(unit).reduce);
}

void CpuCommunicator::sum_words(std::span<std::int64_t> words) {
  const auto n = static_cast<std::int64_t>(words.size());
  others_words_.resize(words.size() * peers_->size());
  const auto view_of = [n](std::int64_t* first) {
    return View(reinterpret_cast<std::byte*>(first), DType::fp64, {1, n});  // of 8 bytes; nothing computes with it
  };
  doing(
      [&] {
        for (const int other : all_.ranks) {
          if (other == rank()) continue;
          messages_.push_back(peers_->receive(other, Channel::sum, view_of(&others_words_[other * n])));
          messages_.push_back(peers_->send(other, Channel::sum, view_of(words.data())));
        }
        for (Peers::Message& message : messages_) message.wait();
      },
      "a few numbers were added up");
  messages_.clear();
  for (const int other : all_.ranks)
    if (other != rank())
      for (std::int64_t i = 0; i < n; ++i) words[i] += others_words_[other * n + i];
}

}  // namespace monomorph::distributed
