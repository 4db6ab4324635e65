// What transformers goes on with, choosing greedily, of models with windows, experts and scaled positions; that of
// Gemmas is in gemma_test.cpp.
#include "fixtures/weights/recipes/llama_options.hpp"
#include "fixtures/weights/recipes/llama_yarn_options.hpp"
#include "fixtures/weights/recipes/mistral.hpp"
#include "fixtures/weights/recipes/mixtral.hpp"
#include "fixtures/weights/recipes/qwen2.hpp"
#include "fixtures/weights/recipes/qwen3.hpp"
#include "fixtures/weights/recipes/qwen3_yarn.hpp"
#include "numerics/continues_check.hpp"

namespace monomorph {
namespace {
using namespace testing;
}  // namespace

TEST_CASE("Mistral, Mixtral and Qwen go on with a text as transformers does") {
  check_continues<recipes::mistral>("mistral");
  check_continues<recipes::mixtral>("mixtral");
  check_continues<recipes::qwen2>("qwen2");
  check_continues<recipes::qwen3>("qwen3");
}
TEST_CASE("models with scaled positions go on with a text as transformers does") {
  check_continues<recipes::llama_options>("llama_options");
  check_continues<recipes::llama_yarn_options>("llama_yarn_options");
  check_continues<recipes::qwen3_yarn>("qwen3_yarn");
}

}  // namespace monomorph
