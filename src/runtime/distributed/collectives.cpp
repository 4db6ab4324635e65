#include "runtime/distributed/collectives.hpp"

#include <algorithm>
#include <utility>

namespace monomorph::distributed {
namespace {

View piece_of(View x, std::int64_t first, std::int64_t length) {
  const std::int64_t left = std::max<std::int64_t>(0, x.shape.cols - first);
  return x.columns(std::min(first, x.shape.cols), std::min(length, left));
}

}  // namespace

View ShardedBuffer::shard(int r) const { return piece_of(unsharded, r * shard_length, shard_length); }

void Exchange::operator()(AllToAll& all_to_all, std::span<const View> sent, std::span<const View> received) {
  sent_.assign(sent.begin(), sent.end());
  received_.assign(received.begin(), received.end());
  const int own = all_to_all.group().rank_in_group;
  const View from = std::exchange(sent_[own], View{}), to = std::exchange(received_[own], View{});
  all_to_all.begin(0, sent_, received_);
  if (to.present() && to.data != from.data) all_to_all.copy(from, to);
  all_to_all.end(0);
}

void AllGather::operator()(AllToAll& all_to_all, View shard, const ShardedBuffer& sharded) {
  const RankGroup& group = all_to_all.group();
  sent_.assign(group.size(), shard);
  received_.resize(group.size());
  for (int r = 0; r < group.size(); ++r) received_[r] = sharded.shard(r);
  exchange_(all_to_all, sent_, received_);
}

ReduceScatter::ReduceScatter(View staging, DType wire) : wire_(wire) {
  const std::int64_t quarter = staging.elements() / 4;
  std::int64_t first = 0;
  for (View* const buffer : {&received_[0], &received_[1], &sent_[0], &sent_[1]}) {
    *buffer = staging.columns(first, quarter);
    first += quarter;
  }
}

void ReduceScatter::operator()(AllToAll& all_to_all, const ShardedBuffer& sharded, View shard, bool accumulate) {
  const RankGroup& group = all_to_all.group();
  const std::int64_t length = piece_length(received_[0].bytes(), group.size(), shard.dtype);
  begin(all_to_all, sharded, 0, length, 0);
  for (std::int64_t first = 0, half = 0; first < sharded.shard_length; first += length, half = 1 - half) {
    if (first + length < sharded.shard_length)
      begin(all_to_all, sharded, first + length, length, static_cast<int>(1 - half));
    all_to_all.end(static_cast<int>(half));
    const View sum = piece_of(shard, first, length);
    if (!sum.present()) continue;
    terms_ = pieces_[half];
    terms_[group.rank_in_group] = piece_of(sharded.shard(group.rank_in_group), first, length);
    all_to_all.pairwise_sum(terms_, sum, accumulate);
  }
}

/// Begins the exchange of one piece of every rank's part.
void ReduceScatter::begin(AllToAll& all_to_all, const ShardedBuffer& sharded, std::int64_t first, std::int64_t length,
                          int half) {
  const RankGroup& group = all_to_all.group();
  const View mine = piece_of(sharded.shard(group.rank_in_group), first, length);
  pieces_[half].assign(group.size(), View{});
  sends_.assign(group.size(), View{});
  int slot = 0;
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.rank_in_group) continue;
    const std::int64_t offset = slot * length * size_of(wire_);
    pieces_[half][r] = View(received_[half].data + offset, wire_, mine.shape);
    const View theirs = piece_of(sharded.shard(r), first, length);
    if (theirs.present()) sends_[r] = to_send(all_to_all, theirs, half, offset);
    ++slot;
  }
  all_to_all.begin(half, sends_, pieces_[half]);
}

/// x itself, or a copy that is rounded to the dtype of the wire.
View ReduceScatter::to_send(AllToAll& all_to_all, View x, int half, std::int64_t offset) {
  if (x.dtype == wire_) return x;
  const View rounded(sent_[half].data + offset, wire_, x.shape);
  all_to_all.copy(x, rounded);
  return rounded;
}

}  // namespace monomorph::distributed
