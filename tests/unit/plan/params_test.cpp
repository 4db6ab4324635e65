#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

// Parameters of the published checkpoints.
static_assert(plan::params<Of<models::gpt2_124m>> == 124'439'808);
static_assert(plan::params<Of<models::gpt2_355m>> == 354'823'168);
static_assert(plan::params<Of<models::gpt2_774m>> == 774'030'080);
static_assert(plan::params<Of<models::gpt2_1_5b>> == 1'557'611'200);
static_assert(plan::params<Of<models::llama3_1b>> == 1'235'814'400);
static_assert(plan::params<Of<models::llama3_3b>> == 3'212'749'824);
static_assert(plan::params<Of<models::llama3_8b>> == 8'030'261'248);
static_assert(plan::params<Of<models::llama3_70b>> == 70'553'706'496);

TEST_CASE("parameters are counted without padding") {
  // table 10 x 64, positions 8 x 64, final norm 2 x 64; two blocks of 12 D^2 + 13 D
  CHECK(plan::params<ByHand> == 640 + 512 + 128 + 2 * (12 * 64 * 64 + 13 * 64));
}

TEST_CASE("every option counts") {
  // Q 60, K 20, F 50, H 10; biases everywhere; LayerNorm
  constexpr std::int64_t norms = 4 * 30 + 4 * 10, attention = 100 * 30 + 100 + 30 * 60 + 30,
                         mlp = 2 * (50 * 30 + 50) + 30 * 50 + 30;
  CHECK(plan::params<EveryOption> == 37 * 30 + 7 * 30 + 5 * (norms + attention + mlp) + 2 * 30 + 37 * 30);
}

TEST_CASE("the sum over units is the sum over runs") {
  std::int64_t sum = 0;
  for (int unit = 0; unit < plan::n_units<EveryOption>; ++unit)
    sum += plan::unit_layout<EveryOption>(unit).parameters();
  CHECK(sum == plan::params<EveryOption>);
}
