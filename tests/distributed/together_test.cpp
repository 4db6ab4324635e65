#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/together.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/ranks.hpp"

#include <exception>
#include <filesystem>
#include <map>
#include <mutex>
#include <new>

namespace monomorph::testing {
namespace {

/// By rank, what is thrown where rank 1 fails so. Ranks that went through the same collectives have one more.
template <class Failure> std::map<int, std::exception_ptr> thrown_where_one_fails(const Failure& failure) {
  std::map<int, std::exception_ptr> thrown;
  std::mutex mutex;
  with_ranks(3, [&](const World& world) {
    const auto communicator = world.communicator(3, DType::fp32);
    std::exception_ptr here;
    try {
      together(*communicator, "take its part", [&] {
        if (world.rank() == 1) throw failure;
      });
    } catch (...) {
      here = std::current_exception();
    }
    const std::int64_t rank = world.rank();
    const std::vector<std::int64_t> ranks = all_gather_words(*communicator, {&rank, 1});
    const std::lock_guard lock(mutex);
    thrown[world.rank()] = here;
    CHECK(ranks == std::vector<std::int64_t>{0, 1, 2});
  });
  return thrown;
}

/// That rank 1 throws its own exception, and the others one that names it, with this exit code.
template <class Failure> void check_failure_of_one(const Failure& failure, ExitCode code) {
  const auto thrown = thrown_where_one_fails(failure);
  REQUIRE(thrown.at(1));
  CHECK_THROWS_AS(std::rethrow_exception(thrown.at(1)), Failure);
  for (const int other : {0, 2}) {
    CAPTURE(other);
    REQUIRE(thrown.at(other));
    try {
      std::rethrow_exception(thrown.at(other));
    } catch (const Error& error) {
      CHECK(std::string_view(error.what()).starts_with("[RANK-08] rank 1 could not take its part"));
      CHECK(error.code() == code);
    }
  }
}

}  // namespace

TEST_CASE("where one rank fails together with others, it throws its own error and they its exit code") {
  check_failure_of_one(Error("RANK-13", "a sum is wrong"), ExitCode::failure);
  check_failure_of_one(UsageError("RUN-10", "--hparams is missing"), ExitCode::usage);
}

namespace {

/// Where in an outer call of three ranks, which has two inner calls, rank 1 fails.
enum class Fails { before, in_first, between, in_second, behind };
/// By rank, the exit codes; each has gone through the same collectives.
std::vector<ExitCode> codes_of_nested(Fails where) {
  std::vector<ExitCode> codes(3, ExitCode::success);
  with_ranks(3, [&](const World& world) {
    const auto communicator = world.communicator(3, DType::fp32);
    const auto come_to = [&](Fails place) {
      if (world.rank() == 1 && where == place) throw UsageError("RUN-10", "--hparams is missing");
    };
    try {
      together(*communicator, "begin", [&] {
        come_to(Fails::before);
        together(*communicator, "take the first step", [&] { come_to(Fails::in_first); });
        come_to(Fails::between);
        together(*communicator, "take the second step", [&] { come_to(Fails::in_second); });
        come_to(Fails::behind);
      });
    } catch (const Error& error) {
      CHECK((error.id() == "RANK-08") == (world.rank() != 1));
      codes[world.rank()] = error.code();
    }
    const std::int64_t rank = world.rank();
    CHECK(all_gather_words(*communicator, {&rank, 1}) == std::vector<std::int64_t>{0, 1, 2});
  });
  return codes;
}

}  // namespace

TEST_CASE("where calls lie in a call, a failure is told once, wherever it comes") {
  for (const Fails where : {Fails::before, Fails::in_first, Fails::between, Fails::in_second, Fails::behind}) {
    CAPTURE(static_cast<int>(where));
    CHECK(codes_of_nested(where) == std::vector(3, ExitCode::usage));
  }
}

TEST_CASE("an exception that is no Error is told to the other ranks, too") {
  check_failure_of_one(std::bad_alloc(), ExitCode::failure);
  check_failure_of_one(std::filesystem::filesystem_error("no entry", std::error_code()), ExitCode::failure);
  check_failure_of_one(7, ExitCode::failure);
}

}  // namespace monomorph::testing
