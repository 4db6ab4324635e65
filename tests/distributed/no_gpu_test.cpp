#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/ranks.hpp"

#include <monomorph/runtime/machine/gpus.hpp>

namespace monomorph::testing {

TEST_CASE("a rank that finds no GPU says so in one line") {
  if (!gpus().empty()) MONOMORPH_SKIP("there is a GPU here");
  const std::string error =
      error_of([] { with_ranks(2, [](const World& world) { world.communicator(2, DType::fp32, Device::gpu); }); });
  CAPTURE(error);
  CHECK(error.starts_with("[RANK-15] rank 0 needs a GPU, and "));
}

TEST_CASE("one rank needs no collectives, and so no GPU for them") {
  CHECK(World().communicator(1, DType::fp32, Device::gpu)->size() == 1);
}

}  // namespace monomorph::testing
