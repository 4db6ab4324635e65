#pragma once
#include "train/inference/byte_grammar.hpp"

#include <compare>
#include <unordered_map>

namespace monomorph::train {

/// The calls that a text is within, which end one after the other. Equal ones are one frame, so that places in a text
/// can be compared by their numbers, and a frame may go back to several places: alternatives that have called the same
/// rule go through it once. Frame 0 is that of no call.
class CallFrames {
 public:
  /// A node and the calls that it is within.
  struct Place {
    std::int32_t node, frame;
    auto operator<=>(const Place&) const = default;
  };

  CallFrames() { frames_.push_back({0, 0, 0}); }
  /// @param places to go on from, sorted, all of frames with one call less than `depth`
  std::int32_t frame(std::span<const Place> places, int depth);
  std::span<const Place> places(std::int32_t frame) const;
  int depth(std::int32_t frame) const { return frames_[static_cast<std::size_t>(frame)].depth; }
  std::size_t size() const { return frames_.size(); }
  /// Forgets frames that these are not within; the others get new numbers, the places of `kept` too.
  void keep_only(std::vector<Place>& kept);

 private:
  struct Frame {
    std::int32_t first, count, depth;
  };

  std::vector<Frame> frames_;
  std::vector<Place> places_;
  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
};

/// Goes through a grammar byte by byte, by all ways that there are at once.
class GrammarWalk {
 public:
  using Place = CallFrames::Place;

  explicit GrammarWalk(const ByteGrammar& grammar) : grammar_(grammar) {}

  /// Appends the places where a text begins.
  void begin(std::vector<Place>& places);
  /// Appends the places to which a byte leads from those between `first` and `last`. None: the byte cannot be there.
  void step(std::vector<Place>& places, std::size_t first, std::size_t last, std::uint8_t byte);
  /// Appends the places to which a rule that ends leads.
  void leave(std::vector<Place>& places, std::int32_t frame);
  bool complete(std::span<const Place> places) const;

  CallFrames& frames() { return frames_; }
  /// Places that were looked at so far: what the time goes by.
  std::int64_t work() const { return work_; }

 private:
  struct PendingCall {
    std::int32_t rule, depth;
    Place back;
    auto operator<=>(const PendingCall&) const = default;
  };

  bool fits(std::uint8_t height, std::int32_t frame) const {
    return height == 0 || height + frames_.depth(frame) <= ByteGrammar::most_depth;
  }
  std::int32_t next(std::int32_t node, std::uint8_t byte) const;
  void add(std::vector<Place>& places, Place place);
  void expand(std::vector<Place>& places);
  void expand(std::vector<Place>& places, Place place);
  void make_calls();
  void finish(std::vector<Place>& places, std::size_t first);

  const ByteGrammar& grammar_;
  CallFrames frames_;
  std::vector<Place> unexpanded_, seen_, back_;
  std::vector<PendingCall> calls_;
  std::int64_t work_ = 0;
};

}  // namespace monomorph::train
