#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

// Worked by hand. Every number is an integer below 2^53, so equality is exact.
TEST_CASE("floating-point operations per token of GPT-2 124M") {
  constexpr auto flops = plan::flops_per_token<Of<models::gpt2_124m>>();
  CHECK(flops.palm == 859'885'056);  // 6 x 124,439,808 + 12 x 12 x 768 x 1024
  // head 2 x 50,257 x 768; a block 2 x 12 x 768^2, and 4 x 768 x 1025 / 2 for its attention
  CHECK(flops.exact == 3.0 * (77'194'752 + 12 * (14'155'776 + 1'574'400)));
  CHECK(flops.exact == 797'870'592);
}

TEST_CASE("floating-point operations per token of Llama 3 8B") {
  constexpr auto flops = plan::flops_per_token<Of<models::llama3_8b>>();
  CHECK(flops.palm == 61'066'469'376);
  // a block: query and out 2 x 4096^2, key and value 2 x 4096 x 1024, three of 4096 x 14,336
  CHECK(flops.exact == 51'471'187'968);
}
