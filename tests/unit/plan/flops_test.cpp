#include <monomorph/block/autograd_block.hpp>

#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {

/// One matrix, and no attention.
template <class R> struct LinearBlock : AutogradBlock<LinearBlock<R>> {
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : ParameterLayout {
    constexpr explicit Params(int /*block*/ = 0) { take_tensor("weight", {D, D}, ParameterClass::linear, {}); }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * D * D; }
};
struct Mixed : ByHand {
  using layers = Stack<Run<DecoderBlock, 1>, Run<LinearBlock, 1>>;
};

}  // namespace

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

TEST_CASE("a block that does not attend costs no attention") {
  constexpr auto flops = plan::flops_per_token<Mixed>();
  // head 2 x 10 x 64; the decoder block 2 x 12 x 64^2, and 4 x 64 x 9 / 2 for its attention; the other 2 x 64^2
  CHECK(flops.exact == 3.0 * (1'280 + 98'304 + 1'152 + 8'192));
  // embedding 10 x 64, positions 8 x 64, final norm 2 x 64; 49,984 in the decoder block with its norms and biases; 64^2
  CHECK(flops.palm == 6 * (640 + 512 + 128 + 49'984 + 4'096) + 12 * 1 * 64 * 8);
}
