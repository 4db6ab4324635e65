#include <monomorph/runtime/memory/arena.hpp>

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/core/error.hpp>

using namespace monomorph;
using namespace monomorph::testing;

TEST_CASE("memory that the system refuses is an error of usage, in sizes that people read") {
  constexpr std::int64_t beyond_any_address = std::int64_t{1} << 50;
  try {
    const Arena arena(beyond_any_address);
    FAIL("the system gave a pebibyte");
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::usage);
    CHECK(contains(error.what(), "[ARENA-02] the plan's 1024 TiB"));
    CHECK(contains(error.what(), "Cannot allocate memory"));
  }
}

TEST_CASE("a buffer that the plan did not foresee is told in the same way") {
  Arena arena(4096);
  CHECK(arena.take(512, DType::fp32).present());
  const std::string message = error_of([&] { arena.take(1024, DType::fp32); });
  CHECK(contains(message, "[ARENA-01] a buffer of 1024 fp32 exceeds the planned 4.00 KiB"));
}
