#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace monomorph {

/// Gathers the words of all ranks, those of rank 0 first, in every rank. All give equally many.
std::vector<std::int64_t> all_gather_words(Communicator& communicator, std::span<const std::int64_t> local);
/// Whether it is so on some rank, in every rank.
bool any_rank(Communicator& communicator, bool here);

namespace detail {
/// The lowest rank that failed, and how.
struct FailedRank {
  int rank;
  ExitCode code;
};
std::optional<FailedRank> first_failure(Communicator& communicator);
/// Tells the other ranks that `act` has thrown what is being handled.
void report_current_exception(Communicator& communicator) noexcept;
[[noreturn]] void throw_failure_elsewhere(FailedRank failed, std::string_view what);
}  // namespace detail

/// Calls `act`, which may fail, on every rank. If it fails on one, all ranks throw: that one its own exception, of
/// whatever type, and the others an error with the same exit code. So no rank waits for one that has failed. Calls may
/// lie in the `act` of another, which does not tell again what the exception is known for: nobody may throw another one
/// in its place between the two, on one rank alone.
/// @param what "read the checkpoint": for the message   @throws [RANK-08] another rank failed; what `act` throws
template <class Act> auto together(Communicator& communicator, std::string_view what, Act act) {
  constexpr bool gives = !std::is_void_v<decltype(act())>;
  std::optional<std::conditional_t<gives, decltype(act()), std::monostate>> result;
  try {
    if constexpr (gives)
      result.emplace(act());
    else
      act();
  } catch (...) {
    detail::report_current_exception(communicator);
    throw;
  }
  if (const auto failed = detail::first_failure(communicator)) detail::throw_failure_elsewhere(*failed, what);
  if constexpr (gives) return std::move(*result);
}

}  // namespace monomorph
