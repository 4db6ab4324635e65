// Options that the families' usual models leave as they are, each in a small folder that Hugging Face's transformers
// wrote: tests/fixtures/weights/README.md.
#include "fixtures/weights/recipes/bert_relu2.hpp"
#include "fixtures/weights/recipes/gemma2_options.hpp"
#include "fixtures/weights/recipes/gemma3_options.hpp"
#include "fixtures/weights/recipes/gpt2_relu2.hpp"
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/llama_attention_bias.hpp"
#include "fixtures/weights/recipes/llama_attention_bias_tied.hpp"
#include "fixtures/weights/recipes/llama_mlp_bias.hpp"
#include "fixtures/weights/recipes/llama_mlp_bias_tied.hpp"
#include "fixtures/weights/recipes/mistral_options.hpp"
#include "fixtures/weights/recipes/mixtral_options.hpp"
#include "fixtures/weights/recipes/qwen2_options.hpp"
#include "fixtures/weights/recipes/qwen3_options.hpp"
#include "fixtures/weights/recipes/roberta_options.hpp"
#include "numerics/continues_check.hpp"
#include "support/training_program.hpp"

namespace monomorph {
namespace {

using namespace testing;

/// A Llama whose heads do not divide its width.
struct undivided : recipes::llama {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = recipes::llama::model;
    model.n_heads = 5, model.n_kv_heads = 1, model.head_dim = 8;
    return model;
  }();
};

template <Recipe R> void check_decoder(const std::string& name) {
  check_travels<R>(name);
  check_continues<R>(name);
}

}  // namespace

TEST_CASE("GPT-2 with squared ReLU travels") { check_decoder<recipes::gpt2_relu2>("gpt2_relu2"); }
// transformers 5 takes no such Llama: load_exports.py loads this one.
TEST_CASE("Llama whose heads do not divide its width travels as a Mistral") {
  const train::RecipeProgram recipe = training_program<undivided>();
  const ExportsFolder folder("undivided");
  Model<undivided> model, restored;
  train::save_run(folder / "run", {}, recipe, train::default_hparams(recipe.hparams), {.step = 1, .samples = 1}, {},
                  model.step, *model.communicator);
  train::export_folder(recipe, train::find_checkpoint(folder / "run"), folder / "exported", {});
  folder.keep_outputs("outputs", model.outputs("llama"));
  CHECK(train::read_folder_model(folder / "exported").family == &train::mistral);
  const auto imported = train::import_weights(recipe, folder / "exported", folder / "imported");
  train::restore_run(imported.checkpoint, recipe, restored.step, false);
  CHECK(hash_of(restored.step.parameters()) == hash_of(model.step.parameters()));
}
TEST_CASE("Llama with biases of attention alone travels, with a head of its own and with a tied one") {
  check_decoder<recipes::llama_attention_bias>("llama_attention_bias");
  check_decoder<recipes::llama_attention_bias_tied>("llama_attention_bias_tied");
}
TEST_CASE("Llama with biases of the MLP alone travels, with a head of its own and with a tied one") {
  check_decoder<recipes::llama_mlp_bias>("llama_mlp_bias");
  check_decoder<recipes::llama_mlp_bias_tied>("llama_mlp_bias_tied");
}
TEST_CASE("Mistral without a window, with a tied head and heads of another width travels") {
  check_decoder<recipes::mistral_options>("mistral_options");
}
TEST_CASE("Qwen2 with a head of its own and heads of another width travels") {
  check_decoder<recipes::qwen2_options>("qwen2_options");
}
TEST_CASE("Qwen3 with biases of attention and a tied head travels") {
  check_decoder<recipes::qwen3_options>("qwen3_options");
}
TEST_CASE("Mixtral with a window and a tied head travels") {
  check_decoder<recipes::mixtral_options>("mixtral_options");
}
TEST_CASE("Gemma 2 without windows, with biases, another GELU and a head of its own travels") {
  check_decoder<recipes::gemma2_options>("gemma2_options");
}
TEST_CASE("Gemma 3 with windows in any layers, capped logits, biases, SiLU and a head of its own travels") {
  check_decoder<recipes::gemma3_options>("gemma3_options");
}
TEST_CASE("BERT with squared ReLU travels") { check_travels<recipes::bert_relu2>("bert_relu2"); }
TEST_CASE("RoBERTa whose padding is token 0, with GELU by tanh, travels") {
  check_travels<recipes::roberta_options>("roberta_options");
}

}  // namespace monomorph
