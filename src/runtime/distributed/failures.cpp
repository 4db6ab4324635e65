#include "runtime/distributed/failures.hpp"

#include "runtime/distributed/first_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monomorph::distributed {
namespace {

std::string name_of(std::optional<int> rank) { return rank ? fmt::format("rank {}", *rank) : "a rank"; }

}  // namespace

bool is_time_limit(const std::string& reason) {
  for (const char* const words : {"imed out", "imeout"})
    if (reason.find(words) != std::string::npos) return true;
  return false;
}

RankFailure silent_rank(std::optional<int> other, bool sends) {
  return {other, "RANK-12",
          fmt::format("{} did not {} within failure.rank_timeout", name_of(other),
                      sends ? "take what it was sent" : "send its part")};
}

RankFailure gone_rank(std::optional<int> other, const std::string& reason) {
  return {other, "RANK-11", fmt::format("{} has gone ({})", name_of(other), reason)};
}

RankFailure failure_of(std::optional<int> other, bool sends, const std::exception& thrown) {
  const std::string reason = first_line(thrown);
  return is_time_limit(reason) ? silent_rank(other, sends) : gone_rank(other, reason);
}

Error absent_ranks(const std::vector<int>& ranks, std::chrono::milliseconds time_limit) {
  const bool one = ranks.size() == 1;
  return Error("RANK-05",
               fmt::format("{} {} did not come to the ranks' rendezvous within {} s; see whether the launcher "
                           "has started {} and what {}, or raise failure.rank_timeout if {} slow",
                           one ? "rank" : "ranks", fmt::join(ranks, ", "),
                           std::chrono::duration<double>(time_limit).count(), one ? "it" : "them",
                           one ? "it says" : "they say", one ? "it is" : "they are"));
}

std::string gathering(int unit) { return fmt::format("the parameters of unit {} were gathered", unit); }
std::string reducing(int unit) { return fmt::format("the gradients of unit {} were reduced", unit); }
std::string exchanging_units(int first) {
  return fmt::format("units from {} on were exchanged, whose matrices are transformed", first);
}
std::string adding_words(int) { return "a few numbers were added up"; }
std::string gathering_batch(int) { return "the embeddings of a micro-batch were gathered"; }
std::string exchanging(int other) { return fmt::format("messages were exchanged with rank {}", other); }

}  // namespace monomorph::distributed
