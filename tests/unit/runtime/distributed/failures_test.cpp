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
  for (const char* const thrown : {"[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1) ran for "
                                   "1000 milliseconds before timing out.\nframe #0",
                                   "wait timeout after 1000ms"})
    CHECK(said(std::nullopt, thrown) == "[RANK-12] a rank " + late);
  CHECK(said(std::nullopt, "NCCL error: remote process exited or there was a network error\nframe #0") ==
        "[RANK-11] a rank has gone (NCCL error: remote process exited or there was a network error), while the "
        "gradients of unit 3 were reduced");
}
