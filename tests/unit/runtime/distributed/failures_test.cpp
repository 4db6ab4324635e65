#include "runtime/distributed/failures.hpp"

#include <stdexcept>
#include "support/catch.hpp"

using monomorph::RankFailure;
using namespace monomorph::distributed;

TEST_CASE("what c10d throws is another rank's failure: too late, or gone") {
  const auto said = [](std::optional<int> other, const char* thrown) {
    const RankFailure failure = failure_of(other, false, std::runtime_error(thrown));
    CHECK(failure.other() == other);
    return std::string(failure.during(reducing(3)).what());
  };
  const std::string late =
      "did not send its part within failure.rank_timeout, while the gradients of unit 3 were reduced";
  CHECK(said(2, "Timed out waiting 1000ms for recv operation to complete") == "[RANK-12] rank 2 " + late);
  CHECK(said(std::nullopt, "wait timeout after 1000ms") == "[RANK-12] a rank " + late);
  CHECK(said(1, "Connection closed by peer\nframe #0") ==
        "[RANK-11] rank 1 has gone (Connection closed by peer), while the gradients of unit 3 were reduced");
}
