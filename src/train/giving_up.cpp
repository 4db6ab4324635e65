#include "train/giving_up.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace monomorph::train {
namespace {

/// Ranks notice at different moments: within the same collective, but at the end of it or at its beginning.
constexpr std::chrono::seconds patience{10};

std::string word_on_others(const World& world, std::optional<int> blamed) {
  const auto silent = world.leave_word("gives up", blamed, patience);
  if (!silent) return "the ranks' meeting point does not answer either";
  if (silent->empty()) return "all other ranks have noticed and end, too";
  return fmt::format("no word from {} {}", silent->size() == 1 ? "rank" : "ranks", fmt::join(*silent, ", "));
}

}  // namespace

void give_up(const World& world, const RankFailure& failure, std::int64_t step) {
  fmt::print(stderr,
             "{}, in step {}; {}; see what became of {}, and start again with checkpoint.resume=auto to go on from "
             "the last checkpoint\n",
             failure.what(), step, word_on_others(world, failure.other()),
             failure.other() ? fmt::format("rank {}", *failure.other()) : "the ranks that are silent");
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(failure.code()));
}

}  // namespace monomorph::train
