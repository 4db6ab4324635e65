#include "runtime/distributed/collectives.hpp"

#include <monomorph/plan/communication.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>

#include <algorithm>

namespace monomorph::distributed {
namespace {

View piece_of(View x, std::int64_t first, std::int64_t length) {
  const std::int64_t left = std::max<std::int64_t>(0, x.shape.cols - first);
  return x.columns(std::min(first, x.shape.cols), std::min(length, left));
}

void wait_for(std::vector<Peers::Message>& messages) {
  for (Peers::Message& message : messages) message.wait();
  messages.clear();
}

}  // namespace

View Parts::of(int r) const { return piece_of(whole, r * part, part); }

void AllGather::operator()(const RankGroup& group, Channel channel, View own, const Parts& parts) {
  for (int r = 0; r < group.size(); ++r)
    if (const View theirs = parts.of(r); r != group.own && theirs.present())
      messages_.push_back(peers_.receive(group.ranks[r], channel, theirs));
  for (int r = 0; r < group.size(); ++r)
    if (r != group.own && own.present()) messages_.push_back(peers_.send(group.ranks[r], channel, own));
  if (const View mine = parts.of(group.own); mine.data != own.data) kernels::copy(own, mine);
  wait_for(messages_);
}

ReduceScatter::ReduceScatter(Peers& peers, DType wire)
    : peers_(peers), wire_(wire), staging_(peers.size() > 1 ? plan::staging_bytes : 0) {
  const std::int64_t quarter = staging_.bytes() / 4 / size_of(DType::fp64);
  for (View* const buffer : {&received_[0], &received_[1], &sent_[0], &sent_[1]})
    *buffer = staging_.take(quarter, DType::fp64);
}

void ReduceScatter::operator()(const RankGroup& group, Channel channel, const Parts& parts, View own, bool accumulate) {
  const std::int64_t slot_bytes = received_[0].bytes() / std::max(1, group.size() - 1);
  const std::int64_t length = slot_bytes / size_of(own.dtype) / plan::alignment_elements * plan::alignment_elements;
  exchange(group, channel, parts, 0, length, 0);
  for (std::int64_t first = 0, half = 0; first < parts.part; first += length, half = 1 - half) {
    if (first + length < parts.part)
      exchange(group, channel, parts, first + length, length, static_cast<int>(1 - half));
    Piece& piece = pieces_[half];
    wait_for(piece.messages);
    const View sum = piece_of(own, first, length);
    if (!sum.present()) continue;
    terms_ = piece.received;
    terms_[group.own] = piece_of(parts.of(group.own), first, length);
    kernels::pairwise_sum(terms_, sum, accumulate);
  }
}

/// Receives and sends of one piece of everybody's part.
void ReduceScatter::exchange(const RankGroup& group, Channel channel, const Parts& parts, std::int64_t first,
                             std::int64_t length, int half) {
  Piece& piece = pieces_[half];
  piece.received.assign(group.size(), View{});
  const View mine = piece_of(parts.of(group.own), first, length);
  int slot = 0;
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.own) continue;
    const std::int64_t offset = slot * length * size_of(wire_);
    piece.received[r] = View(received_[half].data + offset, wire_, mine.shape);
    if (mine.present()) piece.messages.push_back(peers_.receive(group.ranks[r], channel, piece.received[r]));
    const View theirs = piece_of(parts.of(r), first, length);
    if (theirs.present()) piece.messages.push_back(peers_.send(group.ranks[r], channel, to_send(theirs, half, offset)));
    ++slot;
  }
}

/// x as it is, or rounded to the dtype of the wire.
View ReduceScatter::to_send(View x, int half, std::int64_t offset) {
  if (x.dtype == wire_) return x;
  const View rounded(sent_[half].data + offset, wire_, x.shape);
  kernels::copy(x, rounded);
  return rounded;
}

}  // namespace monomorph::distributed
