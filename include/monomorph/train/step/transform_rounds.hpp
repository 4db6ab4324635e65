#pragma once
#include <array>
#include <monomorph/plan/transform_turns.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <vector>

namespace monomorph::train {

/// The rounds in which ranks that share units transform them: in each every rank has one unit whole, by
/// plan::transform_turn. Compiled once: few recipes have any.
class TransformRounds {
 public:
  struct Round {
    std::vector<int> units;
    int own = -1;                ///< the unit that is this rank's to transform; -1 if it has none in the last round
    View whole;                  ///< where that is whole; two rounds that follow each other have different places
    std::vector<View> of_units;  ///< by rank: this rank's shard of the unit that is that rank's to transform
    std::vector<View> of_whole;  ///< by rank: the part of `whole` that is that rank's shard
  };

  TransformRounds();
  ~TransformRounds();
  TransformRounds(const TransformRounds&) = delete;
  TransformRounds& operator=(const TransformRounds&) = delete;

  /// Units come from the lowest to the highest, all with the same number of ranks.
  /// @param rank this one   @param wholes where the unit may lie whole in even rounds, and in odd ones
  void add(int unit, int ranks, int rank, View shard, const std::array<View, 2>& wholes);
  int size() const;
  const Round& operator[](int round) const;
  /// The round whose first unit this is; -1 if there is none.
  int beginning_with(int unit) const;

 private:
  int n_units_ = 0;
  std::vector<Round> rounds_;
};

}  // namespace monomorph::train
