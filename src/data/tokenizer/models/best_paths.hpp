#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace monomorph::data {

/// The search for the best path of pieces through a text: at each position the best last step to there. Wherever all
/// paths meet, what lies behind can be written out and is forgotten.
template <class Score> class BestPaths {
 public:
  struct Step {
    std::int32_t id;
    std::uint32_t length = 0;  ///< in bytes; 0: no path comes here
  };

  /// @param longest_step in bytes
  explicit BestPaths(std::size_t longest_step) { begin(longest_step); }

  /// Forgets everything but its memory.
  void begin(std::size_t longest_step) {
    scores_.resize(std::bit_ceil(longest_step + 1));
    score_at(0) = 0;
    meeting_ = farthest_ = 0;
    steps_.assign(1, {});
  }

  Score score(std::size_t position) const { return scores_[position & (scores_.size() - 1)]; }

  /// Offers a step from `position`, which has a path; returns whether it is the best so far to where it ends: one that
  /// is only as good as another is not.
  /// @param score of the path with it, of a type that may be wider than Score
  template <class OfferedScore>
  bool offer(std::size_t position, std::size_t length, std::int32_t id, OfferedScore score) {
    const std::size_t end = position + length;
    if (end > farthest_) {
      farthest_ = end;
      steps_.resize(end - meeting_ + 1);
    }
    Step& step = steps_[end - meeting_];
    if (step.length != 0 && !(score > score_at(end))) return false;
    step = {id, static_cast<std::uint32_t>(length)};
    score_at(end) = static_cast<Score>(score);
    return true;
  }

  /// Where the longest path ends: all of them meet there once steps have been offered from all positions before.
  std::size_t farthest() const { return farthest_; }

  /// Calls visit(position, step) for the best path between the last meeting of all paths and the one at farthest().
  template <class Visit> void write_out(Visit visit) {
    path_.clear();
    for (std::size_t at = farthest_ - meeting_; at > 0; at -= steps_[at].length) path_.push_back(steps_[at]);
    std::size_t position = meeting_;
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
      visit(position, *step);
      position += step->length;
    }
    meeting_ = farthest_;
    steps_.assign(1, {});
  }

  /// Gives memory back that a very long text took.
  void trim() {
    constexpr std::size_t most_kept = std::size_t{1} << 16;
    if (steps_.capacity() > most_kept) steps_ = {};
    if (path_.capacity() > most_kept) path_ = {};
  }

 private:
  Score& score_at(std::size_t position) { return scores_[position & (scores_.size() - 1)]; }

  std::vector<Score> scores_;  ///< a ring: the score of the best path to each of the next positions
  std::size_t meeting_ = 0;    ///< where all paths last met
  std::size_t farthest_ = 0;
  std::vector<Step> steps_;  ///< from `meeting_` to `farthest_`
  std::vector<Step> path_;
};

}  // namespace monomorph::data
