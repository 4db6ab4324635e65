#include "train/inference/grammar_walk.hpp"

#include <algorithm>

namespace monomorph::train {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  hash = (hash ^ more) * 0x9E3779B97F4A7C15u;
  return hash ^ (hash >> 29);
}

std::uint64_t hash_of(std::span<const CallFrames::Place> places) {
  std::uint64_t hash = places.size();
  for (const CallFrames::Place& place : places) {
    hash = mixed(hash, static_cast<std::uint32_t>(place.node));
    hash = mixed(hash, static_cast<std::uint32_t>(place.frame));
  }
  return hash;
}

}  // namespace

std::int32_t CallFrames::frame(std::span<const Place> places, int depth) {
  const std::uint64_t hash = hash_of(places);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto known = begin; known != end; ++known)
    if (std::ranges::equal(this->places(known->second), places)) return known->second;
  const auto id = static_cast<std::int32_t>(frames_.size());
  frames_.push_back({static_cast<std::int32_t>(places_.size()), static_cast<std::int32_t>(places.size()), depth});
  places_.insert(places_.end(), places.begin(), places.end());
  by_hash_.emplace(hash, id);
  return id;
}

std::span<const CallFrames::Place> CallFrames::places(std::int32_t frame) const {
  const Frame& one = frames_[static_cast<std::size_t>(frame)];
  return {places_.data() + one.first, static_cast<std::size_t>(one.count)};
}

/// A frame's number is greater than those of the frames that it goes back to.
void CallFrames::keep_only(std::vector<Place>& kept) {
  std::vector<bool> wanted(frames_.size());
  for (const Place& place : kept) wanted[static_cast<std::size_t>(place.frame)] = true;
  for (std::size_t id = frames_.size(); id-- > 1;)
    if (wanted[id])
      for (const Place& place : places(static_cast<std::int32_t>(id)))
        wanted[static_cast<std::size_t>(place.frame)] = true;
  CallFrames fresh;
  std::vector<std::int32_t> now(frames_.size(), 0);
  const auto moved = [&](Place place) { return Place{place.node, now[static_cast<std::size_t>(place.frame)]}; };
  for (std::size_t id = 1; id < frames_.size(); ++id) {
    if (!wanted[id]) continue;
    std::vector<Place> back;
    for (const Place& place : places(static_cast<std::int32_t>(id))) back.push_back(moved(place));
    std::ranges::sort(back);
    now[id] = fresh.frame(back, frames_[id].depth);
  }
  for (Place& place : kept) place = moved(place);
  std::ranges::sort(kept);
  *this = std::move(fresh);
}

void GrammarWalk::begin(std::vector<Place>& places) {
  const std::size_t first = places.size();
  if (grammar_.can_end()) add(places, {grammar_.start(), 0});
  expand(places);
  finish(places, first);
}

void GrammarWalk::step(std::vector<Place>& places, std::size_t first, std::size_t last, std::uint8_t byte) {
  const std::size_t begin = places.size();
  work_ += static_cast<std::int64_t>(last - first);
  for (std::size_t i = first; i < last; ++i) {
    const Place from = places[i];
    const std::int32_t to = next(from.node, byte);
    if (to >= 0 && fits(grammar_.node(to).height, from.frame)) add(places, {to, from.frame});
  }
  expand(places);
  finish(places, begin);
}

void GrammarWalk::leave(std::vector<Place>& places, std::int32_t frame) {
  const std::size_t first = places.size();
  for (const Place& place : frames_.places(frame)) add(places, place);
  expand(places);
  finish(places, first);
}

bool GrammarWalk::complete(std::span<const Place> places) const {
  return std::ranges::any_of(places,
                             [&](const Place& place) { return place.frame == 0 && grammar_.node(place.node).ends; });
}

std::int32_t GrammarWalk::next(std::int32_t node, std::uint8_t byte) const {
  const std::span<const ByteGrammar::ByteEdge> edges = grammar_.bytes(node);
  if (edges.size() <= 4) {
    for (const ByteGrammar::ByteEdge& edge : edges)
      if (edge.least <= byte && byte <= edge.most) return edge.to;
    return -1;
  }
  const auto edge = std::ranges::lower_bound(edges, byte, {}, &ByteGrammar::ByteEdge::most);
  return edge != edges.end() && edge->least <= byte ? edge->to : -1;
}

void GrammarWalk::add(std::vector<Place>& places, Place place) {
  if (grammar_.node(place.node).plain)
    places.push_back(place);
  else
    unexpanded_.push_back(place);
}

/// Calls wait until all others have been followed, so that equal ones are made once.
void GrammarWalk::expand(std::vector<Place>& places) {
  if (unexpanded_.empty()) return;
  seen_.clear();
  for (;;) {
    while (!unexpanded_.empty()) {
      const Place place = unexpanded_.back();
      unexpanded_.pop_back();
      expand(places, place);
    }
    if (calls_.empty()) return;
    make_calls();
  }
}

void GrammarWalk::expand(std::vector<Place>& places, Place place) {
  const auto known = std::ranges::lower_bound(seen_, place);
  if (known != seen_.end() && *known == place) return;
  seen_.insert(known, place);
  ++work_;
  const ByteGrammar::Node& node = grammar_.node(place.node);
  if (!grammar_.bytes(place.node).empty() || (node.ends && place.frame == 0)) places.push_back(place);
  if (node.ends) {
    work_ += static_cast<std::int64_t>(frames_.places(place.frame).size());
    for (const Place& back : frames_.places(place.frame)) add(places, back);
  }
  for (const std::int32_t to : grammar_.skips(place.node))
    if (fits(grammar_.node(to).height, place.frame)) add(places, {to, place.frame});
  const int depth = frames_.depth(place.frame);
  for (const ByteGrammar::Call& call : grammar_.calls(place.node)) {
    const int needs = std::max(grammar_.node(call.rule).height + 1, int{grammar_.node(call.to).height});
    if (needs + depth <= ByteGrammar::most_depth) calls_.push_back({call.rule, depth + 1, {call.to, place.frame}});
  }
}

void GrammarWalk::make_calls() {
  std::ranges::sort(calls_);
  calls_.erase(std::unique(calls_.begin(), calls_.end()), calls_.end());
  work_ += static_cast<std::int64_t>(calls_.size());
  for (std::size_t i = 0; i < calls_.size();) {
    const std::int32_t rule = calls_[i].rule, depth = calls_[i].depth;
    back_.clear();
    for (; i < calls_.size() && calls_[i].rule == rule && calls_[i].depth == depth; ++i)
      back_.push_back(calls_[i].back);
    unexpanded_.push_back({rule, frames_.frame(back_, depth)});
  }
  calls_.clear();
}

void GrammarWalk::finish(std::vector<Place>& places, std::size_t first) {
  if (places.size() < first + 2) return;
  const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, places.end());
  places.erase(std::unique(begin, places.end()), places.end());
}

}  // namespace monomorph::train
