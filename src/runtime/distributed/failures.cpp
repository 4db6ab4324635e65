#include "runtime/distributed/failures.hpp"

#include "runtime/distributed/first_line.hpp"

#include <fmt/format.h>

namespace monomorph::distributed {
namespace {

std::string name_of(std::optional<int> rank) { return rank ? fmt::format("rank {}", *rank) : "a rank"; }

}  // namespace

bool is_time_limit(const std::string& reason) {
  for (const char* const words : {"imed out", "iming out", "imeout"})
    if (reason.find(words) != std::string::npos) return true;
  return false;
}

RankFailure silent_rank(std::optional<int> other, bool sends) {
  return {other, fmt::format("[RANK-12] {} did not {} within failure.rank_timeout", name_of(other),
                             sends ? "take what it was sent" : "send its part")};
}

RankFailure gone_rank(std::optional<int> other, const std::string& reason) {
  return {other, fmt::format("[RANK-11] {} has gone ({})", name_of(other), reason)};
}

RankFailure failure_of(std::optional<int> other, bool sends, const std::exception& thrown) {
  const std::string reason = first_line(thrown);
  return is_time_limit(reason) ? silent_rank(other, sends) : gone_rank(other, reason);
}

std::string gathering(int unit) { return fmt::format("the parameters of unit {} were gathered", unit); }
std::string reducing(int unit) { return fmt::format("the gradients of unit {} were reduced", unit); }
std::string adding_words(int) { return "a few numbers were added up"; }

}  // namespace monomorph::distributed
