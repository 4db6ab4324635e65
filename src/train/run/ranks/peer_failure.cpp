#include "train/run/ranks/peer_failure.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/report_failure.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace monomorph::train {
namespace {

/// How long other ranks are waited for: all notice the failure in the same collective, but some at its beginning and
/// some at its end.
constexpr std::chrono::seconds patience{10};

std::string name_of(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

/// "no word from rank 3; see what became of rank 3"
std::string describe_silent_ranks(const World& world, std::optional<int> blamed) {
  const auto silent = world.notify_and_wait("gives up", blamed, patience);
  if (silent && !silent->empty()) {
    // Who comes late finds the rendezvous gone with a rank that has given up, and knows by itself for whom it waited.
    std::vector<int> missed = *silent;
    if (blamed && std::ranges::count(missed, *blamed) == 0) missed.push_back(*blamed);
    return fmt::format("no word from {}; see what became of {}", name_of(*silent), name_of(missed));
  }
  return fmt::format("{}; see what became of {}",
                     silent ? "all other ranks have noticed and end, too"
                            : "the ranks' rendezvous does not answer either",
                     blamed ? name_of({*blamed}) : "the other ranks");
}

}  // namespace

void exit_on_peer_failure(const World& world, const RankFailure& failure, const std::string& moment) {
  const int exit_code = report_failure(
      Error(failure.id(),
            fmt::format("{}, {}; {}, and start again with checkpoint.resume=auto to go on from the last checkpoint",
                        failure.text(), moment, describe_silent_ranks(world, failure.other())),
            failure.code()));
  std::fflush(nullptr);
  std::_Exit(exit_code);
}

}  // namespace monomorph::train
