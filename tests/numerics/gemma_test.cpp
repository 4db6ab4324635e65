// Gemma 2 and 3: weights that transformers wrote, and the same models against autograd in fp64.
#include "fixtures/weights/recipes/gemma2.hpp"
#include "fixtures/weights/recipes/gemma2_capped.hpp"
#include "fixtures/weights/recipes/gemma3.hpp"
#include "numerics/continues_check.hpp"
#include "numerics/model_check.hpp"
#include "runtime/files/checkpoint_metadata.hpp"
#include "support/error_of.hpp"
#include "support/training_program.hpp"
#include "weights_check.hpp"

namespace monomorph {
namespace {

using namespace testing;

template <class R> struct InFp64 : R { using precision = precision::Fp64; };
template <class R> struct InBf16 : R { using precision = precision::Bf16Mixed; };
template <class R> struct PerDocument : R { using attention = attention::WithinDocuments; };
template <class R, class Policy> struct With : R { using checkpointing = Policy; };

/// The layers turn by one spec each, and one of them by the model's.
template <class R> using Slow = Rotated<RotarySpec{.base = 500}>::Block<R>;
template <class R> using Slower = Rotated<RotarySpec{.base = 2000}, Composed<BlockOrder::parallel>::Block>::Block<R>;
struct many_rotaries {
  static constexpr DecoderSpec model{.vocab_size = 50,
                                     .n_layers = 4,
                                     .n_heads = 4,
                                     .d_model = 32,
                                     .context_length = 21,
                                     .activation = Activation::geglu_exact,
                                     .position = Position::rotary,
                                     .multiplier = {.embedding = 3, .attention = 0.2}};
  using layers = Stack<Run<Slow, 1>, Run<DecoderBlock, 1>, Run<Slower, 2>>;
  using sharding = sharding::Replicate;
  using precision = precision::Fp64;
  using checkpointing = checkpointing::KeepAll;
  using optimizer = optim::AdamW;
};
struct one_rotary : many_rotaries {
  using layers = Stack<Run<DecoderBlock, 2>, Run<Composed<BlockOrder::parallel>::Block, 2>>;
};
struct learned_positions : one_rotary {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = one_rotary::model;
    model.position = Position::learned;
    model.tied_head = false;
    return model;
  }();
};

/// The folder of a fixture whose config.json says something else.
struct ChangedFolder {
  TemporaryFolder folder;
  ChangedFolder(const std::string& name, auto change) {
    nlohmann::json config = nlohmann::json::parse(read_bytes(fixture(name) + "/config.json"));
    change(config);
    write_bytes(folder / "config.json", config.dump());
  }
  train::PortableModel model() const { return train::read_folder_model(folder.path()).portable; }
  std::string refusal() const {
    return error_of([&] { model(); });
  }
};

}  // namespace

TEST_CASE("Gemma 2 without caps travels") { check_travels<recipes::gemma2>("gemma2"); }
TEST_CASE("Gemma 2 travels") { check_travels<recipes::gemma2_capped>("gemma2_capped"); }
TEST_CASE("Gemma 3 travels") { check_travels<recipes::gemma3>("gemma3"); }

TEST_CASE("Gemma 2 goes on with a text as transformers does") {
  check_continues<recipes::gemma2_capped>("gemma2_capped");
}
TEST_CASE("Gemma 3 goes on with a text as transformers does") { check_continues<recipes::gemma3>("gemma3"); }

TEST_CASE("Gemma in bf16 differs from transformers by roundings") {
  using R = InBf16<recipes::gemma3>;
  const auto expected = runtime::SafetensorsFile::open(fixture("gemma3") + "/expected.safetensors");
  Model<R> model;
  const auto opened = train::open_weights(fixture("gemma3"), training_program<R>(), {});
  train::load_weights(*opened.source, {}, model.step);
  CHECK(relative_error(model.outputs("gemma3"), values_of(expected, "logits")) < 0.03);  // its own bf16 is 0.02 away
}

TEST_CASE("Gemma, against autograd: training, evaluation, decoding") {
  using namespace checkpointing;
  using gemma3 = InFp64<recipes::gemma3>;
  check_model(model_case<gemma3>(0));
  check_model(model_case<With<gemma3, EveryBlock>>(1));
  check_model(model_case<With<gemma3, RecomputeCheap>>(2));
  check_model(model_case<InFp64<recipes::gemma2>>(3));
  check_model(model_case<With<InFp64<recipes::gemma2_capped>, EveryBlock>>(4));
}

TEST_CASE("rotary positions of layers' own, and multipliers, against autograd: training, evaluation, decoding") {
  check_model(model_case<many_rotaries>(0));
  check_model(model_case<With<many_rotaries, checkpointing::EveryBlock>>(1));
  check_model(model_case<PerDocument<one_rotary>>(2));
  check_model(model_case<learned_positions>(3));
  STATIC_REQUIRE(plan::n_rotaries<many_rotaries> == 3);
  STATIC_REQUIRE(plan::n_rotaries<one_rotary> == 1);
  STATIC_REQUIRE(plan::n_rotaries<learned_positions> == 0);
  STATIC_REQUIRE(plan::memory<many_rotaries>(1, 2).rotary == 3 * plan::memory<one_rotary>(1, 2).rotary);
  const auto communicator = one_rank();
  CHECK(train::Step<many_rotaries>(*communicator, 2, 1).state().arena().unused_bytes() == 0);
}

TEST_CASE("of a Gemma what no recipe has, or transformers does not read, is refused by its name") {
  const auto refusal = [](const std::string& name, const std::string& key, const nlohmann::json& value) {
    return ChangedFolder(name, [&](nlohmann::json& config) { config[key] = value; }).refusal();
  };
  for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    CHECK(refusal("gemma2", cap, 0).starts_with("[WEIGHTS-04]"));
    for (const double number : {0.0, -50.0, 1e10})
      CHECK(contains(refusal("gemma2", cap, number), "it must be at least 0.001 and at most 1e9, or null"));
    CHECK(refusal("gemma2", cap, "50.0").starts_with("[WEIGHTS-03]"));
    CHECK(refusal("gemma2", cap, true).starts_with("[WEIGHTS-03]"));
  }
  CHECK(contains(refusal("gemma3", "attn_logit_softcapping", 50.0), "attn_logit_softcapping: 50.0"));
  CHECK(contains(refusal("gemma3", "use_bidirectional_attention", true), "use_bidirectional_attention: true"));
  CHECK(contains(refusal("gemma3", "hidden_activation", "relu"), "hidden_activation: \\\"relu\\\""));
  CHECK(contains(refusal("gemma3", "query_pre_attn_scalar", 0), "it must be above 0"));
  CHECK(refusal("gemma3", "query_pre_attn_scalar", "256").starts_with("[WEIGHTS-03]"));
  CHECK(contains(refusal("gemma3", "rope_local_base_freq", 0.5), "rope_local_base_freq: 0.5\" (it must be above 1)"));
  CHECK(contains(refusal("gemma3", "sliding_window", -1), "sliding_window: -1"));
  CHECK(contains(refusal("gemma3", "layer_types", nlohmann::json::array({"full_attention"})), "one for each layer"));
  const auto types = [](const std::string& type) { return nlohmann::json(std::vector<std::string>(5, type)); };
  CHECK(contains(refusal("gemma3", "layer_types", types("chunked_attention")), "sliding_attention or full_attention"));
  CHECK(contains(refusal("gemma3", "layer_types", types("sliding_attention")), "one at least must be full_attention"));
  CHECK(refusal("gemma3", "layer_types", 3).starts_with("[WEIGHTS-03]"));
  CHECK(contains(refusal("gemma3", "sliding_window_pattern", 0), "sliding_window_pattern: 0"));
}

TEST_CASE("a Gemma's caps are those of its file, or else those of its family") {
  const auto caps = [](const std::string& name, auto change) {
    return ChangedFolder(name, change).model().model.soft_cap;
  };
  const auto erased = [](nlohmann::json& config) {
    config.erase("attn_logit_softcapping");
    config.erase("final_logit_softcapping");
  };
  const auto of_logits = [](nlohmann::json& config) { config["final_logit_softcapping"] = 30; };
  CHECK(caps("gemma2", [](auto&) {}) == SoftCapSpec{});
  CHECK(caps("gemma2_capped", [](auto&) {}) == SoftCapSpec{.scores = 0.5, .logits = 0.75});
  CHECK(caps("gemma2", erased) == SoftCapSpec{.scores = 50, .logits = 30});
  CHECK(caps("gemma2", of_logits) == SoftCapSpec{.logits = 30});
  CHECK(caps("gemma3", erased) == SoftCapSpec{});
  CHECK(caps("gemma3", of_logits) == SoftCapSpec{.logits = 30});
}

TEST_CASE("weights of a model with caps are another model's, and a checkpoint from before there were caps has none") {
  const TemporaryFolder folder;
  const train::RecipeProgram bare = training_program<recipes::gemma2>(),
                             capped = training_program<recipes::gemma2_capped>();
  const std::string checkpoint = train::import_weights(bare, fixture("gemma2"), folder / "bare").checkpoint;
  const auto refusal = [&](const train::RecipeProgram& recipe) {
    return error_of([&] { train::open_weights(checkpoint, recipe, train::facts_that_training_changes()); });
  };
  const auto check = [&] {
    CHECK(refusal(bare) == "(no error)");
    CHECK(refusal(capped).starts_with("[WEIGHTS-08]"));
    CHECK(contains(refusal(capped), "model.soft_cap.scores is 0 there, and 0.5 here"));
    CHECK(contains(refusal(capped), "model.soft_cap.logits is 0 there, and 0.75 here"));
  };
  check();
  auto metadata = runtime::read_checkpoint_metadata(checkpoint);
  CHECK(std::erase_if(metadata.recipe_facts, [](const auto& fact) { return contains(fact.first, "soft_cap"); }) == 2);
  write_bytes(checkpoint + "/metadata.json", runtime::checkpoint_metadata::to_json(metadata));
  check();
}

TEST_CASE("files of a Gemma from before there were types of layers say which are local by a pattern") {
  const auto local = [](const std::string& name, auto change) { return ChangedFolder(name, change).model().local; };
  const auto erased = [](nlohmann::json& config) { config.erase("layer_types"); };
  const auto of_gemma3 = train::read_folder_model(fixture("gemma3")).portable.local;
  REQUIRE(of_gemma3);
  CHECK(of_gemma3->layers.to_ulong() == 0b11011);
  CHECK(of_gemma3->mask.before == 4);
  CHECK(of_gemma3->rotary.base == 100);
  CHECK(local("gemma3", erased) == of_gemma3);
  const ChangedFolder all_local("gemma3", [&](nlohmann::json& config) {
    erased(config);
    config.erase("sliding_window_pattern");  // 6, and there are 5 layers
  });
  CHECK(contains(all_local.refusal(), "layer_types: null\" (one at least must be full_attention)"));
  CHECK(local("gemma2", erased)->layers.to_ulong() == 0b101);
  CHECK_FALSE(local("gemma3", [](nlohmann::json& config) {
    config["layer_types"] = std::vector<std::string>(5, "full_attention");
  }));
  CHECK(local("gemma2", [](auto&) {})->rotary == RotarySpec{});
}

TEST_CASE("an export of a Gemma 3 says its types of layers as a pattern, too, if they follow one") {
  const auto pattern = [](const std::vector<std::string>& types) {
    const ChangedFolder folder("gemma3", [&](nlohmann::json& config) { config["layer_types"] = types; });
    return train::config_of(*train::find_family("gemma3_text"), folder.model()).at("sliding_window_pattern");
  };
  const std::string local = "sliding_attention", full = "full_attention";
  CHECK(pattern({local, local, full, local, local}) == 3);
  CHECK(pattern({local, full, local, full, local}) == 2);
  CHECK(pattern({local, local, local, local, full}) == 5);
  CHECK(pattern({full, full, full, full, full}) == 1);
  CHECK(pattern({full, local, full, local, full}) == nullptr);
}

TEST_CASE("what Gemma's files can't express is refused by its name") {
  const auto check = [](const std::string& feature, auto change) {
    train::RecipeProgram recipe = training_program<recipes::gemma3>();
    change(recipe);
    const std::string message = error_of([&] { train::family_for(recipe); });
    CAPTURE(message);
    CHECK(message.starts_with("[WEIGHTS-01]"));
    CHECK(contains(message, feature));
  };
  const RotarySpec scaled{.base = 100, .linear = {.factor = 2}}, other{.base = 7};
  DecoderSpec model = recipes::gemma3::model;
  model.multiplier.embedding = 2;
  check("layers with different rotary positions", [&](auto& recipe) { recipe.layers.back().rotary = &other; });
  check("layers with windows of different lengths", [](auto& recipe) { recipe.attentions.back().mask.before = 6; });
  check("layers with different masks", [](auto& recipe) { recipe.attentions.back().mask.prefix = 2; });
  check("local.rotary.linear.factor is 2 in the recipe, and absent in gemma3_text",
        [&](auto& recipe) { recipe.layers.front().rotary = recipe.layers.back().rotary = &scaled; });
  check("model.multiplier.embedding is 2 in the recipe", [&](auto& recipe) { recipe.model = &model; });
  DecoderSpec capped = recipes::gemma3::model;
  capped.soft_cap.scores = 50;
  check("model.soft_cap.scores is 50 in the recipe, and 0 in gemma3_text",
        [&](auto& recipe) { recipe.model = &capped; });
  check("order is pre-norm in the recipe, and sandwich-norm in gemma3_text", [](auto& recipe) {
    for (train::LayerKind& kind : recipe.layers) kind.order = BlockOrder::pre_norm;
  });
  DecoderSpec undivided = recipes::gemma3::model;
  undivided.n_heads = 5, undivided.n_kv_heads = 1, undivided.head_dim = 8;
  check("its d_model must be a multiple of its n_heads", [&](auto& recipe) { recipe.model = &undivided; });
}

TEST_CASE("a divisor of Gemma's scores is read as it is, and written as a whole number or not at all") {
  const std::string key = "query_pre_attn_scalar";
  const auto read = [&](double divisor) {
    return ChangedFolder("gemma3", [&](nlohmann::json& config) { config[key] = divisor; }).model();
  };
  CHECK(read(12.5).model.multiplier.attention.value == 1 / std::sqrt(12.5));
  const nlohmann::json written = train::config_of(train::gemma3, read(12.0)).at(key);
  CHECK(written.is_number_integer());
  CHECK(written == 12);

  train::RecipeProgram recipe = training_program<recipes::gemma3>();
  for (const double multiplier : {0.3, 0.28867513, 1e-40, 2.0}) {
    CAPTURE(multiplier);
    DecoderSpec model = recipes::gemma3::model;
    model.multiplier.attention = multiplier;
    recipe.model = &model;
    check_refused(recipe, "its attention multiplier must be 1 over the root of a whole number, and is " +
                              train::text_of(multiplier) + " in the recipe");
    if (multiplier == 0.3) CHECK(train::family_computing(recipe).model_type == "gemma3_text");
  }
}

TEST_CASE("recipes whose layers turn otherwise have other fingerprints") {
  struct other_rotary : many_rotaries {
    using layers = Stack<Run<Rotated<RotarySpec{.base = 501}>::Block, 1>, Run<DecoderBlock, 1>, Run<Slower, 2>>;
  };
  CHECK(plan::fingerprint<many_rotaries> != plan::fingerprint<other_rotary>);
  CHECK(plan::state_fingerprint<many_rotaries> != plan::state_fingerprint<other_rotary>);
  const auto layers = training_program<many_rotaries>().layers;
  CHECK(contains(train::text_of(layers.front()), "rotary base 500"));
  CHECK(layers.front().is_plain_block);

  struct scaled_rotary : many_rotaries {
    using layers = Stack<Run<Rotated<RotarySpec{.base = 500, .linear = {.factor = 8}}>::Block, 1>,
                         Run<Rotated<RotarySpec{.base = 500, .yarn = {.factor = 4}}>::Block, 1>, Run<Slower, 2>>;
  };
  const auto scaled = training_program<scaled_rotary>().layers;
  CHECK(contains(train::text_of(scaled[0]), "rotary base 500, rotary linear scaling by 8"));
  CHECK(contains(train::text_of(scaled[1]), "rotary base 500, rotary YaRN by 4 of 8192"));
}

}  // namespace monomorph
