#pragma once
#include <monomorph/runtime/comm/rank_failure.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::distributed {

/// Gloo says "Timed out", the store "timeout".
bool is_time_limit(const std::string& reason);

/// [RANK-12] Another rank let the time limit pass.   @param other absent where c10d can't say which
/// @param sends whether it was sent something, or should have sent something itself
RankFailure silent_rank(std::optional<int> other, bool sends);
/// [RANK-11] Another rank has gone.
RankFailure gone_rank(std::optional<int> other, const std::string& reason);
/// The one or the other, by what c10d threw.
RankFailure failure_of(std::optional<int> other, bool sends, const std::exception& thrown);

/// [RANK-05] Ranks have not come to the rendezvous within the time limit.
Error absent_ranks(const std::vector<int>& ranks, std::chrono::milliseconds time_limit);

/// What a rank was doing when another one failed: "the gradients of unit 3 were reduced".
std::string gathering(int unit);
std::string reducing(int unit);
std::string exchanging_units(int first);
std::string adding_words(int);
std::string gathering_batch(int);
std::string exchanging(int other);

}  // namespace monomorph::distributed
