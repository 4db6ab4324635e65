#include "train/weights/training_facts.hpp"

#include "support/catch.hpp"

using namespace monomorph;
using namespace monomorph::train;

namespace {

using Lines = std::vector<std::string>;

ModelFacts of_config(const nlohmann::json& config, const DropoutSpec& dropout = {}) {
  return training_facts(PortableModel{.model = {.vocab_size = 1,
                                                .n_layers = 1,
                                                .n_heads = 1,
                                                .d_model = 1,
                                                .context_length = 1,
                                                .dropout = dropout}},
                        config);
}

}  // namespace

TEST_CASE("of the facts of a recipe, what decides how it is trained is told where it differs, by name") {
  const ModelFacts there{{"adapters", "rank 8, alpha 16, of query"},
                         {"mask", "causal"},
                         {"model.dropout.residual", "0.1"},
                         {"model.n_layers", "2"},
                         {"objective", "NextToken"},
                         {"optimizer", "AdamW"},
                         {"precision", "Fp32"},
                         {"schedule", "WarmupCosine"},
                         {"sharding", "Replicate"},
                         {"state_dtype", "fp32"}};
  ModelFacts here = there;
  for (auto& [name, value] : here) value += " of another kind";
  CHECK(training_differences(training_facts(there), training_facts(there)).empty());
  CHECK(training_differences(training_facts(there), training_facts(here)) ==
        Lines{"adapters is rank 8, alpha 16, of query there, and rank 8, alpha 16, of query of another kind here",
              "model.dropout.residual is 0.1 there, and 0.1 of another kind here",
              "objective is NextToken there, and NextToken of another kind here",
              "optimizer is AdamW there, and AdamW of another kind here",
              "precision is Fp32 there, and Fp32 of another kind here",
              "state_dtype is fp32 there, and fp32 of another kind here"});
  // An older checkpoint says less.
  here.erase("objective");
  CHECK(training_differences(training_facts({{"optimizer", "Lion"}, {"objective", "a"}}), training_facts(here)) ==
        Lines{"optimizer is Lion there, and AdamW of another kind here"});
}

TEST_CASE("a folder says the dropout of its model, and the dtype of its weights by either key") {
  const ModelFacts facts = of_config({{"torch_dtype", "bfloat16"}}, {.embedding = 0.1, .attention = 0.25});
  CHECK(facts == ModelFacts{{"model.dropout.attention", "0.25"},
                            {"model.dropout.embedding", "0.1"},
                            {"model.dropout.residual", "0"},
                            {"state_dtype", "bf16"}});
  const auto dtype = [](const nlohmann::json& config) {
    const ModelFacts of_folder = of_config(config);
    const auto found = of_folder.find("state_dtype");
    return found == of_folder.end() ? "" : found->second;
  };
  CHECK(dtype({{"dtype", "float16"}}) == "fp16");
  CHECK(dtype({{"dtype", "float32"}, {"torch_dtype", "float16"}}) == "fp32");  // as transformers reads both
  CHECK(dtype({{"dtype", nullptr}, {"torch_dtype", "torch.float64"}}) == "fp64");
  CHECK(dtype({{"torch_dtype", "float8_e4m3fn"}}) == "\"float8_e4m3fn\"");
  CHECK(dtype({{"torch_dtype", "a\nb"}}) == "\"a\\x0ab\"");
  CHECK(dtype({{"torch_dtype", 16}}) == "");
  CHECK(dtype(nlohmann::json::object()) == "");
}
