#include <monomorph/train/describe/describe.hpp>

#include "support/catch.hpp"
#include "support/change_field.hpp"
#include "support/error_of.hpp"
#include "train/describe/run_memory.hpp"

#include <monomorph/plan/fingerprint.hpp>
#include <monomorph/run.hpp>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using monomorph::testing::contains;

struct Gpt2 {
  static constexpr DecoderSpec model = models::gpt2_124m;
  using sharding = sharding::FullShard;
  using precision = precision::Fp32;
  using checkpointing = checkpointing::KeepAll;
  using optimizer = optim::AdamW;
};

struct Multiplied : Gpt2 {
  static constexpr DecoderSpec model = [] {
    DecoderSpec changed = Gpt2::model;
    changed.norm.kind = NormKind::zero_centered_rms_norm;
    changed.multiplier = {.embedding = 27.5, .attention = 0.0625};
    changed.soft_cap = {.scores = 50, .logits = 30.5};
    return changed;
  }();
};

/// Without its step: what it is, not what it does.
template <class R> RecipeProgram program_of(const std::string& name) {
  RecipeProgram program;
  program.name = name;
  program.fingerprint = plan::fingerprint<R>;
  program.model = &R::model;
  program.described_model = described_model(R::model);
  program.policies = {{"sharding", "FullShard"}};
  program.n_params = plan::params<R>;
  program.n_blocks = plan::n_blocks<R>;
  program.first_block = plan::first_block<R>;
  program.flops = plan::flops_per_token<R>;
  program.memory = plan::memory<R>;
  program.planned = plan::planned_recipe<R>();
  program.unit_layout = plan::grouped_layout<R>;
  program.trains_tensor = plan::trains_tensor<R>;
  if constexpr (plan::has_groups<R>) program.groups = R::optimizer::groups;
  program.multipliers = plan::multipliers<R>;
  program.n_units = plan::n_units<R>;
  return program;
}

}  // namespace

TEST_CASE("describe shows the parameters of the published GPT-2") {
  const std::string text = describe(program_of<Gpt2>("gpt2"), 1, 1);
  // 50257 x 768 + 1024 x 768, twelve blocks of 7,087,872, the final norm.
  CHECK(contains(text, "124,439,808"));
  CHECK(contains(text, "50,257 ids"));
  CHECK(contains(text, "layers.{0..11}."));
  CHECK(contains(text, "50257 x 768"));
  CHECK(contains(text, "1024 x 768"));
  CHECK(contains(text, "multi-head: 12 query heads, 12 key and value heads of width 64"));
  CHECK(contains(text, "LayerNorm, epsilon 1e-05, bias"));
  CHECK(contains(text, "tied to the embedding"));
  CHECK(contains(text, "recipe gpt2, fingerprint " + fingerprint_text(plan::fingerprint<Gpt2>)));
}

TEST_CASE("describe tells norms apart, what a model multiplies by, and its caps") {
  const std::string text = describe(program_of<Multiplied>("multiplied"), 1, 1);
  CHECK(contains(text, "RMSNorm by 1 + weight, epsilon 1e-05"));
  CHECK(contains(text, "multiplier.embedding"));
  CHECK(contains(text, "27.5"));
  CHECK(contains(text, "0.0625"));
  CHECK(contains(text, "soft_cap.scores"));
  CHECK(contains(text, "soft_cap.logits"));
  CHECK(contains(text, "30.5"));
}

TEST_CASE("describe shows the plan's floating-point operations") {
  const RecipeProgram program = program_of<Gpt2>("gpt2");
  // PaLM: 6 N + 12 L D T. Exact: three times the products of a forward pass, 2 x (weights of matrices) and causal
  // attention.
  const double palm = 6.0 * 124'439'808 + 12.0 * 12 * 768 * 1024;
  const double matrices = 12.0 * 12 * 768 * 768 + 50257.0 * 768, attention = 12 * 4.0 * 768 * 1025 / 2;
  CHECK(program.flops(1, 1).palm == Approx(palm));
  CHECK(program.flops(1, 1).exact == Approx(3 * (2 * matrices + attention)));
  CHECK(contains(describe(program, 1, 1), "8.59885e+08 (6 N + 12 L D T)"));
}

TEST_CASE("describe shows the bytes of a rank by kind, for given ranks and micro-batch") {
  const RecipeProgram program = program_of<Gpt2>("gpt2");
  const std::string one = describe(program, 1, 1), eight = describe(program, 8, 4);
  CHECK(contains(one, "memory of a rank (1 data-parallel rank, micro-batch 1)"));
  CHECK(contains(eight, "memory of a rank (8 data-parallel ranks, micro-batch 4)"));
  for (const std::string kind :
       {"parameters of the optimiser", "gradients", "optimizer state", "activations", "total"}) {
    CHECK(contains(one, kind));
    CHECK(contains(eight, kind));
  }
  CHECK_FALSE(contains(one, "rotary tables"));  // it has none
  CHECK(program.memory(8, 4, 0).master < program.memory(1, 4, 0).master);
}

TEST_CASE("describe shows what is taken in the place of a step's memory where nothing is trained") {
  RecipeProgram program = program_of<Gpt2>("gpt2");
  program.caches_tokens = true;
  const std::string text = describe(program, 1, 1);
  const std::int64_t parameters = 4 * (std::int64_t{124'439'808} + 47 * 768);  // with the rows that pad the table
  CHECK(inference_memory(program, 1, 0).total() == parameters + program.memory(1, 1, 0).scalars);
  CHECK(inference_memory(program, 1, 1).total() < parameters + parameters / 3);
  CHECK(contains(text, "in its place, for a command that evaluates"));
  CHECK(contains(text, "in its place, to generate, beside the cache"));
}

namespace {
/// The words of the line that begins with a name.
std::string line_of(const std::string& text, const std::string& name) {
  const std::size_t begin = text.find("  " + name + " ");
  std::string line = text.substr(begin, text.find('\n', begin) - begin), words;
  for (const char character : line)
    if (character != ' ' || (!words.empty() && words.back() != ' ')) words += character;
  return words;
}
struct Selecting : Gpt2 {
  using checkpointing = monomorph::checkpointing::Selective<Recompute{.norm = true, .attention = true},
                                                            monomorph::checkpointing::EveryNthBlock<2>>;
};
}  // namespace

TEST_CASE("describe shows what backward may compute again, what is kept for it and what it costs") {
  const std::string whole = describe(program_of<Selecting>("selecting"), 1, 2),
                    text = whole.substr(whole.find("activations of blocks that backward may compute again"));
  // Of twelve blocks of fp32: two norms' outputs of 768 for each of 2 x 1024 tokens; 12 x 1,574,400 of 797,870,592.
  CHECK(line_of(text, "norm, computed again in 6 of 12 blocks") == "norm, computed again in 6 of 12 blocks 144 MiB 0");
  CHECK(line_of(text, "activation") == "activation 288 MiB 0");
  CHECK(line_of(text, "qkv") == "qkv 216 MiB 42,467,328 (5.3 %)");
  CHECK(line_of(text, "attention, computed again in 6 of 12 blocks") ==
        "attention, computed again in 6 of 12 blocks 73.1 MiB 18,892,800 (2.4 %)");
  CHECK(line_of(text, "projection") == "projection 72.0 MiB 14,155,776 (1.8 %)");
  CHECK(line_of(text, "mlp") == "mlp 288 MiB 56,623,104 (7.1 %)");
  CHECK(line_of(text, "all, and what belongs to no choice").ends_with("132,139,008 (16.6 %)"));
}

namespace {
struct InFp8 : Gpt2 {
  using precision = monomorph::precision::Fp8Mixed;
};
}  // namespace

TEST_CASE("describe shows products in fp8, and what they record as no parameters") {
  const std::string text = describe(program_of<InFp8>("in_fp8"), 1, 1);
  CHECK(line_of(text, "products of blocks") ==
        "products of blocks in fp8: inputs and weights in e4m3, gradients in e5m2, with scales from 16 updates");
  for (const std::string part : {"attention", "mlp"}) {
    const std::string name = "layers.{0..11}." + part + ".amax_history";
    CHECK(line_of(text, name) == name + " 6 x 16 no parameters");
  }
  CHECK(line_of(text, "total") == "total 124,439,808");
  CHECK_FALSE(contains(describe(program_of<Gpt2>("gpt2"), 1, 1), "products of blocks"));
}

namespace {
struct InNarrowLogits : Gpt2 {
  using precision = monomorph::precision::NarrowLogits<monomorph::precision::Bf16Mixed>;
};
}  // namespace

TEST_CASE("describe says the dtype of logits where it is not that of statistics") {
  CHECK(line_of(describe(program_of<InNarrowLogits>("narrow"), 1, 1), "logits") ==
        "logits bf16 where a loss is made of them, as their gradients");
  CHECK_FALSE(contains(describe(program_of<Gpt2>("gpt2"), 1, 1), "where a loss is made of them"));
}

namespace {

/// Describes a model in the place of GPT-2.
template <class Spec> std::string text_with(const Spec& model) {
  RecipeProgram program = program_of<Gpt2>("gpt2");
  const DecoderSpec trunk = ModelKind<Spec>::trunk(model);
  program.model = &trunk;
  program.described_model = described_model(model);
  return describe(program, 1, 1);
}

/// Where every field counts: sizes follow from the others, and the scaling of positions that a field belongs to is on.
template <class Spec> Spec spec_that_reads(const std::string& field) {
  Spec spec{.vocab_size = 50'257, .n_layers = 12, .n_heads = 12, .d_model = 768, .context_length = 1'024};
  spec.activation = Activation::swiglu;
  spec.position = Position::rotary;
  if (field.starts_with("rotary.yarn.")) spec.rotary.yarn.factor = 2;
  if (field.starts_with("rotary.dynamic.")) spec.rotary.dynamic.original_context = 512;
  return spec;
}

template <class Spec> void check_every_field_told() {
  for (const std::string& field : testing::names_of_fields<Spec>()) {
    if (field == "n_layers") continue;  // told by the number of blocks, which is the same in a recipe (RECIPE-04)
    CAPTURE(field);
    Spec spec = spec_that_reads<Spec>(field);
    const std::string before = text_with(spec);
    testing::change_field(spec, field);
    CHECK(text_with(spec) != before);
  }
}

}  // namespace

TEST_CASE("describe tells of every field of a model that is not as it is by default") {
  check_every_field_told<DecoderSpec>();
  check_every_field_told<EncoderSpec>();
}

TEST_CASE("a fingerprint has 16 hexadecimal digits") { CHECK(fingerprint_text(0xabc) == "0000000000000abc"); }

namespace {

struct Tuned : Gpt2 {
  struct Groups {
    static constexpr ParameterGroup groups[] = {{.parameters = "layers.*.bias", .weight_decay_multiplier = 0},
                                                {.parameters = "layers.*", .lr_multiplier = 0.5, .layer_decay = 0.5}};
  };
  using optimizer = optim::Grouped<optim::AdamW, Groups>;
  using finetuning = monomorph::finetuning::FreezeFirst<10>;
};

}  // namespace

TEST_CASE("describe shows groups of parameters with their factors, and what is frozen, with their counts") {
  const std::string text = describe(program_of<Tuned>("tuned"), 1, 1);
  // Of the two blocks that are trained: biases of q, k, v, the outputs and the MLP, and of two norms.
  CHECK(line_of(text, "layers.*.bias") == "layers.*.bias lr x 1, weight decay x 0 16 tensors 16,896");
  // The head is tied, so the highest layer is above both.
  CHECK(line_of(text, "layers.*") == "layers.* lr x 0.125 to 0.25, weight decay x 1 16 tensors 14,158,848");
  const std::string frozen = line_of(text, "frozen");
  CHECK(contains(frozen, "tensors 110,264,064"));
  CHECK_FALSE(contains(text, "all others"));
  CHECK_FALSE(contains(describe(program_of<Gpt2>("gpt2"), 1, 1), "groups of parameters"));
}
