#include <algorithm>
#include <monomorph/train/step/transform_rounds.hpp>

namespace monomorph::train {

TransformRounds::TransformRounds() = default;
TransformRounds::~TransformRounds() = default;

void TransformRounds::add(int unit, int ranks, int rank, View shard, const std::array<View, 2>& wholes) {
  const plan::TransformTurn turn = plan::transform_turn(n_units_++, ranks);
  const auto n_ranks = static_cast<std::size_t>(ranks);
  if (turn.rank == 0)
    rounds_.push_back(
        {.units = {}, .whole = {}, .of_units = std::vector<View>(n_ranks), .of_whole = std::vector<View>(n_ranks)});
  Round& round = rounds_.back();
  round.units.push_back(unit);
  round.of_units[static_cast<std::size_t>(turn.rank)] = shard;
  if (turn.rank != rank) return;
  round.own = unit;
  round.whole = wholes[static_cast<std::size_t>(turn.round % 2)];
  const std::int64_t part = shard.elements();
  for (int r = 0; r < ranks; ++r) round.of_whole[static_cast<std::size_t>(r)] = round.whole.columns(r * part, part);
}

int TransformRounds::size() const { return static_cast<int>(rounds_.size()); }
const TransformRounds::Round& TransformRounds::operator[](int round) const {
  return rounds_[static_cast<std::size_t>(round)];
}
int TransformRounds::beginning_with(int unit) const {
  const auto found = std::ranges::find(rounds_, unit, [](const Round& round) { return round.units.front(); });
  return found == rounds_.end() ? -1 : static_cast<int>(found - rounds_.begin());
}

}  // namespace monomorph::train
