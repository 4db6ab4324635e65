#include <monomorph/runtime/machine/pending.hpp>
#include "support/catch.hpp"

#include <cstdint>

using namespace monomorph;

TEST_CASE("what is pending comes out in the order in which it went in, however the two alternate") {
  Pending<std::int64_t> pending;
  std::int64_t in = 0, out = 0;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < round % 7 + 1; ++i) pending.push(in++);
    for (int i = 0; i < (round % 5) + 1 && !pending.empty(); ++i) CHECK(pending.take() == out++);
  }
  while (!pending.empty()) CHECK(pending.take() == out++);
  CHECK(out == in);
}
