// Adapters that Hugging Face's peft wrote for models of further families: tests/fixtures/adapters/README.md.
#include "fixtures/weights/recipes/gemma2_capped.hpp"
#include "fixtures/weights/recipes/gemma3.hpp"
#include "fixtures/weights/recipes/mistral.hpp"
#include "fixtures/weights/recipes/mixtral.hpp"
#include "fixtures/weights/recipes/qwen2.hpp"
#include "numerics/adapters_check.hpp"

namespace monomorph {
namespace {

using namespace testing;

using mistral_adapted =
    Adapted<recipes::mistral, LowRankSpec{.rank = 2, .alpha = 4, .targets = {.key = true, .output = true}}>;
using mixtral_adapted =
    Adapted<recipes::mixtral,
            LowRankSpec{.rank = 2, .alpha = 5, .rank_stabilised = true, .targets = {.value = false, .output = true}}>;
using qwen2_adapted =
    Adapted<recipes::qwen2,
            LowRankSpec{.rank = 3,
                        .alpha = 3,
                        .targets = {.query = false, .key = true, .value = false, .up = true, .down = true}}>;
using gemma2_adapted = Adapted<recipes::gemma2_capped, LowRankSpec{.rank = 2, .alpha = 4, .targets = {.gate = true}}>;
using gemma3_adapted =
    Adapted<recipes::gemma3,
            LowRankSpec{.rank = 4,
                        .alpha = 8,
                        .targets = {.key = true, .output = true, .gate = true, .up = true, .down = true}}>;

}  // namespace

TEST_CASE("adapters of a Mistral travel, merged and alone") {
  check_travels_adapted<mistral_adapted, recipes::mistral>("mistral");
}
TEST_CASE("adapters of a Mixtral's attention travel, merged and alone") {
  check_travels_adapted<mixtral_adapted, recipes::mixtral>("mixtral");
}
TEST_CASE("adapters of a Qwen 2 travel, merged and alone") {
  check_travels_adapted<qwen2_adapted, recipes::qwen2>("qwen2");
}
TEST_CASE("adapters of a Gemma 2 travel, merged and alone") {
  check_travels_adapted<gemma2_adapted, recipes::gemma2_capped>("gemma2_capped");
}
TEST_CASE("adapters of a Gemma 3 travel, merged and alone") {
  check_travels_adapted<gemma3_adapted, recipes::gemma3>("gemma3");
}

}  // namespace monomorph
