#include "runtime/distributed/collectives.hpp"

#include "support/catch.hpp"

#include <monomorph/plan/communication.hpp>

using namespace monomorph;

TEST_CASE("a reduction goes on in whole slices that fit where they are received, among any number of ranks") {
  for (const int ranks : {2, 3, 8, 4'096, 8'193, 8'194, 100'000})
    for (const DType dtype : {DType::bf16, DType::fp32, DType::fp64}) {
      CAPTURE(ranks, name_of(dtype));
      const std::int64_t quarter = plan::staging_bytes(ranks) / 4;
      const std::int64_t length = distributed::piece_length(quarter, ranks, dtype);
      CHECK(length > 0);
      CHECK(length % alignment_elements == 0);
      CHECK((ranks - 1) * length * size_of(dtype) <= quarter);
    }
  // As long as there is room for more than a slice, it is used.
  CHECK(distributed::piece_length(2 << 20, 3, DType::fp32) == 2 << 17);
}
