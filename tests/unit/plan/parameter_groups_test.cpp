#include <monomorph/plan/parameter_groups.hpp>

#include "support/catch.hpp"

#include <monomorph/rule/parameter_rules.hpp>
#include <monomorph/run.hpp>

namespace {

using namespace monomorph;

struct Untied {
  static constexpr DecoderSpec model{
      .vocab_size = 300, .n_layers = 12, .n_heads = 4, .d_model = 64, .context_length = 32, .tied_head = false};
  using sharding = sharding::Replicate;
  using precision = precision::Fp32;
  using checkpointing = checkpointing::KeepAll;
  struct Groups {
    static constexpr ParameterGroup groups[] = {
        {.parameters = "layers.1?.attention.q.weight", .lr_multiplier = 3},
        {.parameters = "layers.1*", .lr_multiplier = 0.5, .weight_decay_multiplier = 0.25, .layer_decay = 0.5},
        {.parameters = ParameterClass::norm, .weight_decay_multiplier = 0},
        {.parameters = "*", .layer_decay = 0.5}};
  };
  using optimizer = optim::Grouped<optim::AdamW, Groups>;
};

int group_of(int unit, std::string_view name) {
  for (const TensorInfo& tensor : plan::grouped_layout<Untied>(unit))
    if (tensor.name == name) return tensor.group;
  return -2;
}

}  // namespace

TEST_CASE("a pattern's star stands for any characters or none, its question mark for one") {
  STATIC_REQUIRE(matches("layers.0.mlp.up.weight", "layers.0.mlp.up.weight"));
  STATIC_REQUIRE(matches("*", ""));
  STATIC_REQUIRE(matches("*", "head.weight"));
  STATIC_REQUIRE(matches("layers.*.weight", "layers.0.mlp.up.weight"));
  STATIC_REQUIRE(matches("layers.*.*.weight", "layers.0.mlp.up.weight"));
  STATIC_REQUIRE(matches("**weight*", "layers.0.mlp.up.weight"));
  STATIC_REQUIRE(matches("*norm*.weight", "layers.0.attention.q_norm.weight"));
  STATIC_REQUIRE(matches("layers.1?.*", "layers.10.mlp.up.weight"));
  STATIC_REQUIRE_FALSE(matches("layers.1?.*", "layers.1.mlp.up.weight"));
  STATIC_REQUIRE_FALSE(matches("layers.0", "layers.0.mlp.up.weight"));
  STATIC_REQUIRE_FALSE(matches("*.bias", "layers.0.mlp.up.weight"));
  STATIC_REQUIRE_FALSE(matches("", "head.weight"));
  STATIC_REQUIRE_FALSE(matches("head.weight?", "head.weight"));
  STATIC_REQUIRE(matches("a*aab", "aaaaab"));  // the star must give back what it has taken
}

TEST_CASE("names of parameters are those of checkpoints") {
  CHECK(ParameterName("mlp.up.weight", 0).view() == "layers.0.mlp.up.weight");
  CHECK(ParameterName("mlp.up.weight", 109).view() == "layers.109.mlp.up.weight");
  CHECK(ParameterName("head.weight", -1).view() == "head.weight");
}

TEST_CASE("a parameter is in the first group that contains it") {
  CHECK(group_of(0, "embedding.weight") == 3);
  CHECK(group_of(2, "attention.q.weight") == 1);  // layer 1
  CHECK(group_of(2, "attention_norm.weight") == 1);
  CHECK(group_of(3, "attention_norm.weight") == 2);  // layer 2
  CHECK(group_of(3, "attention.q.weight") == 3);
  CHECK(group_of(12, "attention.q.weight") == 0);  // layer 11
  CHECK(group_of(12, "attention.k.weight") == 1);
  CHECK(group_of(13, "final_norm.weight") == 2);
  CHECK(group_of(13, "head.weight") == 3);
}

TEST_CASE("factors by hand: a layer's decay counts the layers above it") {
  CHECK(plan::multipliers<Untied>(13, 3) == Multipliers{1, 1});
  CHECK(plan::multipliers<Untied>(12, 1) == Multipliers{0.25, 0.25});
  CHECK(plan::multipliers<Untied>(11, 1) == Multipliers{0.125, 0.25});
  CHECK(plan::multipliers<Untied>(12, 0) == Multipliers{3, 1});
  CHECK(plan::multipliers<Untied>(0, 3) == Multipliers{0x1p-13, 1});
  CHECK(plan::multipliers<Untied>(5, TensorInfo::no_group) == Multipliers{});
}

TEST_CASE("the distance of a name from a pattern is the number of its characters that are wrong") {
  STATIC_REQUIRE(rule::distance_from("head.weight", "head.weight") == 0);
  STATIC_REQUIRE(rule::distance_from("hed.weight", "head.weight") == 1);
  STATIC_REQUIRE(rule::distance_from("heaad.weigth", "head.weight") == 3);
  STATIC_REQUIRE(rule::distance_from("*.atention.?.weight", "layers.0.attention.q.weight") == 1);
  STATIC_REQUIRE(rule::distance_from("*", "layers.0.attention.q.weight") == 0);
  STATIC_REQUIRE(rule::distance_from("", "head") == 4);
}

TEST_CASE("runs of elements end where a group does, and keep their places otherwise") {
  const ParameterLayout layout = plan::grouped_layout<Untied>(12);
  std::int64_t end = 0, state = 0;
  int groups = 0, last = -2;
  plan::for_each_run(layout, 0, layout.elements, state_buffers<optim::AdamW>, [&](const plan::UpdateRun& run) {
    CHECK(run.first == end);
    CHECK(run.state == state);
    end += run.n;
    state += 2 * run.n;
    if (run.group != last) ++groups;
    last = run.group;
  });
  CHECK(end == layout.elements);
  CHECK(groups == 3);  // what is before q, q, and the rest
}
