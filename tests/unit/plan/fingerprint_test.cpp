#include <algorithm>
#include <monomorph/plan/state_fingerprint.hpp>
#include <string_view>
#include <vector>
#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {

struct Renamed : ByHand {};
struct Explicit : ByHand {
  using layers = Stack<Run<DecoderBlock, 2>>;
  using objective = monomorph::objective::NextToken;
  using attention = monomorph::attention::Causal;
  using schedule = monomorph::schedule::WarmupDecay;
  static constexpr MeshSpec mesh{};
};

constexpr std::uint64_t of_model(auto change) {
  DecoderSpec model = ByHand::model;
  change(model);
  plan::detail::Fingerprint fingerprint;
  fingerprint.add(model);
  return fingerprint.value();
}

struct OtherBlock : ByHand {
  template <class R> struct Block : DecoderBlock<R> {};
  using layers = Stack<Run<DecoderBlock, 1>, Run<Block, 1>>;
};
struct OtherOrder : ByHand {
  using layers = Stack<Run<OtherBlock::Block, 1>, Run<DecoderBlock, 1>>;
};
struct OtherObjective : ByHand {
  struct objective : monomorph::objective::NextToken {};
};
struct OtherSchedule : ByHand {
  struct schedule : monomorph::schedule::WarmupDecay {};
};
struct Observed : ByHand {
  struct observer {
    static bool wants(std::int64_t) { return true; }
    static void observe(const auto& /*step*/, auto& /*records*/) {}
  };
};
struct Documents : ByHand {
  using attention = monomorph::attention::WithinDocuments;
};
struct OtherAttention : ByHand {
  struct attention : monomorph::attention::WithinDocuments {};
};
template <class Policy> struct Attending : ByHand { using attention = Policy; };
template <class Policy> struct LayerAttending : ByHand {
  using layers = Stack<Run<DecoderBlockWith<Policy>::template Block, 1>, Run<DecoderBlock, 1>>;
};
struct WithMesh : ByHand {
  static constexpr MeshSpec mesh{.pp = 2};
};
struct WithOtherMesh : ByHand {
  static constexpr MeshSpec mesh{.cp = 2};
};
struct WithExpect : ByHand {
  static constexpr Expect expect{.params = 1};
};
template <int ranks, std::int64_t bytes, std::int64_t micro_batch> struct WithBudget : ByHand {
  static constexpr Budget budget{.ranks = ranks, .bytes_per_rank = bytes, .micro_batch = micro_batch};
};
template <class Policy> struct ShardedBy : ByHand { using sharding = Policy; };
struct DecaysAll : ByHand {
  using optimizer = optim::AdamWDecaying<optim::WeightDecayClasses{.norm = true, .bias = true}>;
};
struct Narrow : ByHand {
  using precision = monomorph::precision::NarrowLogits<monomorph::precision::Bf16Mixed>;
};
/// Policies of one name.
struct OwnNarrow : ByHand {
  struct precision : monomorph::precision::Bf16Mixed {
    static constexpr DType logits_dtype = DType::bf16;
  };
};
struct OwnWide : ByHand {
  struct precision : monomorph::precision::Bf16Mixed {};
};

struct OnHost : ByHand {
  using optimizer = optim::HostState<optim::AdamW>;
};
struct Frozen : ByHand {
  using finetuning = finetuning::FreezeFirst<1>;
};

bool all_differ(std::vector<std::uint64_t> fingerprints) {
  std::sort(fingerprints.begin(), fingerprints.end());
  return std::adjacent_find(fingerprints.begin(), fingerprints.end()) == fingerprints.end();
}

}  // namespace

TEST_CASE("the fingerprint changes with every field of the model") {
  CHECK(all_differ({
      of_model([](auto&) {}),
      of_model([](auto& m) { m.vocab_size = 11; }),
      of_model([](auto& m) { m.n_layers = 3; }),
      of_model([](auto& m) { m.n_heads = 4; }),
      of_model([](auto& m) { m.d_model = 65; }),
      of_model([](auto& m) { m.context_length = 9; }),
      of_model([](auto& m) { m.n_kv_heads = 1; }),
      of_model([](auto& m) { m.n_kv_heads = 2; }),
      of_model([](auto& m) { m.head_dim = 32; }),
      of_model([](auto& m) { m.d_ff = 256; }),
      of_model([](auto& m) { m.d_ff_multiple = 128; }),
      of_model([](auto& m) { m.vocab_multiple = 1; }),
      of_model([](auto& m) { m.norm.kind = NormKind::rms_norm; }),
      of_model([](auto& m) { m.norm.epsilon = 1e-6; }),
      of_model([](auto& m) { m.norm.bias = false; }),
      of_model([](auto& m) { m.qk_norm = true; }),
      of_model([](auto& m) { m.activation = Activation::swiglu; }),
      of_model([](auto& m) { m.position = Position::none; }),
      of_model([](auto& m) { m.rotary.base = 500'000; }),
      of_model([](auto& m) { m.rotary.scaling.factor = 8; }),
      of_model([](auto& m) { m.rotary.scaling.low_frequency_factor = 2; }),
      of_model([](auto& m) { m.rotary.scaling.high_frequency_factor = 8; }),
      of_model([](auto& m) { m.rotary.scaling.original_context = 4096; }),
      of_model([](auto& m) { m.rotary.linear.factor = 8; }),
      of_model([](auto& m) { m.rotary.dynamic.original_context = 4; }),
      of_model([](auto& m) { m.rotary.dynamic.factor = 8; }),
      of_model([](auto& m) { m.rotary.yarn.factor = 8; }),
      of_model([](auto& m) { m.rotary.yarn.original_context = 4096; }),
      of_model([](auto& m) { m.rotary.yarn.beta_fast = 8; }),
      of_model([](auto& m) { m.rotary.yarn.beta_slow = 8; }),
      of_model([](auto& m) { m.rotary.yarn.attention_factor = 8; }),
      of_model([](auto& m) { m.rotary.yarn.truncate = false; }),
      of_model([](auto& m) { m.bias.qkv = false; }),
      of_model([](auto& m) { m.bias.attention_out = false; }),
      of_model([](auto& m) { m.bias.mlp = false; }),
      of_model([](auto& m) { m.tied_head = false; }),
      of_model([](auto& m) { m.dropout.embedding = 0.1; }),
      of_model([](auto& m) { m.dropout.attention = 0.1; }),
      of_model([](auto& m) { m.dropout.residual = 0.1; }),
      of_model([](auto& m) { m.attention_kernel = AttentionKernel::reference; }),
      of_model([](auto& m) { m.initialization.scheme = InitializationScheme::plain; }),
      of_model([](auto& m) { m.initialization.std = 0.03; }),
      of_model([](auto& m) { m.initialization.std = automatic; }),
  }));
}

TEST_CASE("the fingerprint changes with every other member of a recipe") {
  using plan::fingerprint;
  CHECK(all_differ({
      fingerprint<ByHand>,
      fingerprint<OtherSchedule>,
      fingerprint<Observed>,
      fingerprint<ShardedBy<sharding::Replicate>>,
      fingerprint<ShardedBy<sharding::HybridShard<2>>>,
      fingerprint<ShardedBy<sharding::HybridShard<4>>>,
      fingerprint<Bf16>,
      fingerprint<Narrow>,
      fingerprint<CheckpointedBy<checkpointing::EveryBlock>>,
      fingerprint<CheckpointedBy<checkpointing::Fraction<1, 2>>>,
      fingerprint<CheckpointedBy<checkpointing::Fraction<2, 2>>>,
      fingerprint<CheckpointedBy<checkpointing::Offload<>>>,
      fingerprint<OnHost>,
      fingerprint<Frozen>,
      fingerprint<DecaysAll>,
      fingerprint<OtherObjective>,
      fingerprint<Documents>,
      fingerprint<OtherAttention>,
      fingerprint<Attending<monomorph::attention::SlidingWindow<3>>>,
      fingerprint<Attending<monomorph::attention::SlidingWindow<4>>>,
      fingerprint<Attending<monomorph::attention::PerDocument<monomorph::attention::SlidingWindow<3>>>>,
      fingerprint<Attending<monomorph::attention::Prefix<3>>>,
      fingerprint<LayerAttending<monomorph::attention::SlidingWindow<3>>>,
      fingerprint<LayerAttending<monomorph::attention::Prefix<3>>>,
      fingerprint<OtherBlock>,
      fingerprint<OtherOrder>,
      fingerprint<WithMesh>,
      fingerprint<WithOtherMesh>,
      fingerprint<WithExpect>,
      fingerprint<WithBudget<1, 1, 1>>,
      fingerprint<WithBudget<2, 1, 1>>,
      fingerprint<WithBudget<1, 2, 1>>,
      fingerprint<WithBudget<1, 1, 2>>,
  }));
}

TEST_CASE("a recipe may be renamed, and say what is the default anyway") {
  CHECK(plan::fingerprint<Renamed> == plan::fingerprint<ByHand>);
  CHECK(plan::fingerprint<Explicit> == plan::fingerprint<ByHand>);
}

TEST_CASE("the dtype of logits is part of the fingerprint, and not of the state's") {
  CHECK(plan::fingerprint<OwnNarrow> != plan::fingerprint<OwnWide>);
  CHECK(plan::state_fingerprint<OwnNarrow> == plan::state_fingerprint<OwnWide>);
}

TEST_CASE("the fingerprint is the same for every compiler") {
  // Worked out by g++ 12 and clang 14, which agree.
  CHECK(plan::fingerprint<ByHand> == 0x1fc59670bc1c48b4);
}

TEST_CASE("names of types") {
  CHECK(type_name<int>() == "int");
  CHECK(type_name<sharding::HybridShard<4>>() == "monomorph::sharding::HybridShard<4>");
  CHECK(type_name<ByHand>() == "ByHand");
}
