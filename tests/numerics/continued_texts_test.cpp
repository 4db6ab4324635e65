// What transformers goes on with, choosing greedily; that of Gemmas is in gemma_test.cpp, and of options that are
// seldom in weights_options_test.cpp.
#include "fixtures/weights/recipes/gpt2.hpp"
#include "fixtures/weights/recipes/gpt2_untied.hpp"
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/llama_dynamic.hpp"
#include "fixtures/weights/recipes/llama_linear.hpp"
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

TEST_CASE("GPT-2, whose positions are learned, goes on with a text as transformers does") {
  check_continues<recipes::gpt2>("gpt2");
  check_continues<recipes::gpt2_untied>("gpt2_untied");
}
TEST_CASE("Llama, Mistral, Mixtral and Qwen go on with a text as transformers does") {
  check_continues<recipes::llama>("llama");
  check_continues<recipes::mistral>("mistral");
  check_continues<recipes::mixtral>("mixtral");
  check_continues<recipes::qwen2>("qwen2");
  check_continues<recipes::qwen3>("qwen3");
}
TEST_CASE("models with scaled positions go on with a text as transformers does") {
  check_continues<recipes::llama_linear>("llama_linear");
  check_continues<recipes::llama_dynamic>("llama_dynamic");  // up to its context, within which nothing is scaled
  check_continues<recipes::llama_options>("llama_options");
  check_continues<recipes::llama_yarn_options>("llama_yarn_options");
  check_continues<recipes::qwen3_yarn>("qwen3_yarn");
}

}  // namespace monomorph
