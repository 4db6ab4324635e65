#include "runtime/distributed/collectives.hpp"

#include <algorithm>

namespace monomorph::distributed {
namespace {

View piece_of(View x, std::int64_t first, std::int64_t length) {
  const std::int64_t left = std::max<std::int64_t>(0, x.shape.cols - first);
  return x.columns(std::min(first, x.shape.cols), std::min(length, left));
}

}  // namespace

View Parts::of(int r) const { return piece_of(whole, r * part, part); }

void AllGather::operator()(Exchange& exchange, View own, const Parts& parts) {
  const RankGroup& group = exchange.group();
  sent_.assign(group.size(), own);
  received_.resize(group.size());
  for (int r = 0; r < group.size(); ++r) received_[r] = parts.of(r);
  sent_[group.own] = received_[group.own] = View{};
  exchange.begin(0, sent_, received_);
  if (const View mine = parts.of(group.own); mine.data != own.data) exchange.copy(own, mine);
  exchange.end(0);
}

ReduceScatter::ReduceScatter(View staging, DType wire) : wire_(wire) {
  const std::int64_t quarter = staging.elements() / 4;
  std::int64_t first = 0;
  for (View* const buffer : {&received_[0], &received_[1], &sent_[0], &sent_[1]}) {
    *buffer = staging.columns(first, quarter);
    first += quarter;
  }
}

void ReduceScatter::operator()(Exchange& exchange, const Parts& parts, View own, bool accumulate) {
  const RankGroup& group = exchange.group();
  const std::int64_t length = piece_length(received_[0].bytes(), group.size(), own.dtype);
  begin(exchange, parts, 0, length, 0);
  for (std::int64_t first = 0, half = 0; first < parts.part; first += length, half = 1 - half) {
    if (first + length < parts.part) begin(exchange, parts, first + length, length, static_cast<int>(1 - half));
    exchange.end(static_cast<int>(half));
    const View sum = piece_of(own, first, length);
    if (!sum.present()) continue;
    terms_ = pieces_[half];
    terms_[group.own] = piece_of(parts.of(group.own), first, length);
    exchange.pairwise_sum(terms_, sum, accumulate);
  }
}

/// Begins the exchange of one piece of every rank's part.
void ReduceScatter::begin(Exchange& exchange, const Parts& parts, std::int64_t first, std::int64_t length, int half) {
  const RankGroup& group = exchange.group();
  const View mine = piece_of(parts.of(group.own), first, length);
  pieces_[half].assign(group.size(), View{});
  sends_.assign(group.size(), View{});
  int slot = 0;
  for (int r = 0; r < group.size(); ++r) {
    if (r == group.own) continue;
    const std::int64_t offset = slot * length * size_of(wire_);
    pieces_[half][r] = View(received_[half].data + offset, wire_, mine.shape);
    const View theirs = piece_of(parts.of(r), first, length);
    if (theirs.present()) sends_[r] = to_send(exchange, theirs, half, offset);
    ++slot;
  }
  exchange.begin(half, sends_, pieces_[half]);
}

/// x itself, or a copy that is rounded to the dtype of the wire.
View ReduceScatter::to_send(Exchange& exchange, View x, int half, std::int64_t offset) {
  if (x.dtype == wire_) return x;
  const View rounded(sent_[half].data + offset, wire_, x.shape);
  exchange.copy(x, rounded);
  return rounded;
}

}  // namespace monomorph::distributed
