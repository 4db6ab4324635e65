#include <monomorph/runtime/comm/together.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <exception>

namespace monomorph {
namespace {

/// What this rank has told the others last, or was told by one of them. All know it, so that nobody listens where it
/// leaves a further call of `together` around the first.
thread_local std::exception_ptr known;

std::vector<std::int64_t> exit_codes(Communicator& communicator, ExitCode local) {
  const auto code = static_cast<std::int64_t>(local);
  return all_gather_words(communicator, {&code, 1});
}

/// That with which a program ends if nobody catches the exception that is being handled.
ExitCode code_of_current_exception() {
  try {
    throw;
  } catch (const Error& error) {
    return error.code();
  } catch (...) {
    return ExitCode::failure;
  }
}

}  // namespace

std::vector<std::int64_t> all_gather_words(Communicator& communicator, std::span<const std::int64_t> local) {
  std::vector<std::int64_t> words(local.size() * communicator.size());  // each rank has zeros in the others' places
  std::ranges::copy(local, words.begin() + static_cast<std::ptrdiff_t>(local.size()) * communicator.rank());
  communicator.all_reduce_sum(words);
  return words;
}

bool any_rank(Communicator& communicator, bool here) {
  const std::int64_t word = here ? 1 : 0;
  return std::ranges::count(all_gather_words(communicator, {&word, 1}), 1) > 0;
}

namespace detail {

std::optional<FailedRank> first_failure(Communicator& communicator) {
  const std::vector<std::int64_t> codes = exit_codes(communicator, ExitCode::success);
  const auto first = std::ranges::find_if(codes, [](std::int64_t code) { return code != 0; });
  if (first == codes.end()) return std::nullopt;
  return FailedRank{static_cast<int>(first - codes.begin()), static_cast<ExitCode>(*first)};
}

void report_current_exception(Communicator& communicator) noexcept {
  if (std::current_exception() == known) return;
  known = std::current_exception();
  try {
    exit_codes(communicator, code_of_current_exception());
  } catch (...) {  // NOLINT(bugprone-empty-catch): the failure that is being reported is the one to say
  }
}

void throw_failure_elsewhere(FailedRank failed, std::string_view what) {
  known = std::make_exception_ptr(
      Error("RANK-08", fmt::format("rank {} could not {}, and says why; this rank ends with it", failed.rank, what),
            failed.code));
  std::rethrow_exception(known);
}

}  // namespace detail

}  // namespace monomorph
