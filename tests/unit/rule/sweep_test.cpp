// Rules about recipes of decoders.
#include "sweep.hpp"

namespace {

using namespace monomorph;
using namespace monomorph::testing;

/// Near many limits, so that small changes break rules.
struct Base {
  static constexpr DecoderSpec model{.vocab_size = 300,
                                     .n_layers = 6,
                                     .n_heads = 4,
                                     .d_model = 64,
                                     .context_length = 64,
                                     .n_kv_heads = 2,
                                     .vocab_multiple = 16,
                                     .activation = Activation::swiglu,
                                     .position = Position::rotary,
                                     .rotary = {.scaling = {.factor = 2, .original_context = 32}},
                                     .dropout = {.attention = 0.1},
                                     .attention_kernel = AttentionKernel::reference};
  static constexpr MeshSpec mesh{};
  static constexpr Budget budget{.ranks = 8, .bytes_per_rank = gib(1), .micro_batch = 1};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = optim::AdamW;
  using objective = monomorph::objective::NextToken;
};

struct SplitsParametersAlone : sharding::Replicate {
  static constexpr bool splits_parameters = true;
};
struct FreezesAll : finetuning::All {
  static constexpr bool trains(UnitKind, int) { return false; }
};
template <int parts> struct InParts : sharding::FullShard {
  static constexpr int optimizer_shards(int dp) { return dp < 3 && parts == 3 ? dp : parts; }
};
template <DType compute, DType gradient, DType reduce, DType master> struct Dtypes {
  static constexpr DType compute_dtype = compute, gradient_dtype = gradient, reduce_dtype = reduce,
                         master_dtype = master;
};
struct StateInFp16 : optim::AdamW {
  static constexpr DType state_dtype = DType::fp16;
};
template <class R> struct Other : DecoderBlock<R> {};

using enum DType;
using Policies = std::tuple<
    ShardedBy<sharding::HybridShard<0>>, ShardedBy<sharding::HybridShard<3>>, ShardedBy<SplitsParametersAlone>,
    FinetunedBy<FreezesAll>, FinetunedBy<finetuning::FreezeFirst<-1>>, ShardedBy<InParts<4>>, ShardedBy<InParts<3>>,
    ShardedBy<sharding::ReduceOncePerStep<sharding::Replicate>>, In<Dtypes<fp32, bf16, bf16, fp32>>,
    In<Dtypes<fp64, fp64, fp64, fp32>>, In<Dtypes<bf16, fp64, fp64, fp32>>, In<Dtypes<bf16, fp32, fp64, fp32>>,
    CheckpointedBy<checkpointing::EveryNthBlock<7>>, CheckpointedBy<checkpointing::Fraction<3, 2>>,
    CheckpointedBy<checkpointing::Fraction<1, 100>>, OptimizedBy<StateInFp16>, OptimizedBy<optim::Muon>,
    Pursuing<monomorph::objective::MaskedTokens<300>>, Of<Stack<Run<DecoderBlock, 6>, Run<Other, 0>>>,
    Of<Stack<Run<DecoderBlock, 4>, Run<Other, 3>>>, Of<Stack<Run<DecoderBlock, 4>, Run<DecoderBlock, 2>>>>;

struct Decoders : RecipeChanges<Base, Policies> {
  static constexpr bool is_paired(int, int) { return true; }
};
using Swept = Sweep<Decoders>;
constexpr auto& alone = Swept::alone;
[[maybe_unused]] const int told = Swept::tell();

}  // namespace

TEST_CASE("the recipe to break breaks nothing") {
  INFO(text(Swept::broken<Base>));
  CHECK(Swept::broken<Base>.n == 0);
}
TEST_CASE("a number out of its own range breaks one rule") {
  const auto check = [](const char* name, const auto& field, int change) {
    using Value = decltype(field.value);
    if constexpr (std::is_arithmetic_v<Value> && !std::is_same_v<Value, bool>) {
      INFO(name << " = -1 breaks " << text(alone[change]));
      CHECK(alone[change].n == 1);
      const int largest = change + (std::is_integral_v<Value> ? 7 : 5);
      INFO(name << " beyond all bounds breaks " << text(alone[largest]));
      CHECK(alone[largest].n <= 1);
    }
  };
  int i = 0;
  const auto check_fields = [&](auto&& self, const auto& spec) -> void {
    for_each_field(spec, [&](const char* name, const auto& field) {
      if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
        self(self, field);
      else
        check(name, field, i), i += n_values;
    });
  };
  check_fields(check_fields, Base::model);
  check_fields(check_fields, Base::mesh);
  check_fields(check_fields, Base::budget);
}

TEST_CASE("most rules are broken alone by one change") { CHECK(Swept::selected.n >= 53); }

TEST_CASE("two changes break the rules of both") {
  Swept swept;
  constexpr const char *range = "what is compared is out of range, which is told", *unread = "nothing reads rotary",
                       *given = "head_dim is given, and not derived", *scaling = "the scaling is none, which is told",
                       *few = "layers, or ranks, are none, which is told";
  swept.check_pairs({{"HeadsDivideWidth", "WidthInRange", range},
                     {"HeadDimInRange", "HeadsInRange", range},
                     {"HeadDimInRange", "HeadsDivideWidth", "no head_dim can be derived"},
                     {"HeadsDivideWidth", "RotaryHeadDimEven", given},
                     {"HeadDimInRange", "RotaryHeadDimEven", given},
                     {"FeedForwardRoundedUpLittle", "::WidthInRange", range},
                     {"FeedForwardRoundedUpLittle", "HeadDimInRange", "a wider model leaves room for it"},
                     {"FeedForwardRoundedUpLittle", "FeedForwardWidthInRange", "d_ff is given, and not rounded"},
                     {"PaddingIsSmall", "VocabularyInRange", range},
                     {"InitializationKeepsScale", "WidthInRange", range},
                     {"WavelengthsSpanContext", "ContextInRange", range},
                     {"MaskTokenInVocabulary", "VocabularyInRange", range},
                     {"ContextWithinScaling", "RotaryIsRead", unread},
                     {"RotaryHeadDimEven", "RotaryIsRead", unread},
                     {"RotaryBaseAboveOne", "RotaryIsRead", unread},
                     {"WavelengthsSpanContext", "RotaryIsRead", unread},
                     {"RotaryScalingIsRead", "RotaryIsRead", unread},
                     {"RotaryFactorsInRange", "RotaryIsRead", unread},
                     {"OneRotaryScaling", "RotaryIsRead", unread},
                     {"DynamicContextPositive", "RotaryIsRead", unread},
                     {"RotaryContextIsExtended", "RotaryIsRead", unread},
                     {"ContextWithinScaling", "RotaryScalingOrdered", scaling},
                     {"WavelengthsSpanContext", "RotaryScalingOrdered", scaling},
                     {"OneRotaryScaling", "RotaryScalingOrdered", scaling},
                     {"ContextWithinScaling", "RotaryScalingIsRead", scaling},
                     {"RotaryOriginalContextPositive", "RotaryScalingIsRead", scaling},
                     {"OneRotaryScaling", "RotaryScalingIsRead", scaling},
                     {"ContextWithinScaling", "RotaryOriginalContextPositive", scaling},
                     {"RotaryContextIsExtended", "DynamicContextPositive", scaling},
                     {"HybridGroupDividesRanks", "DegreesInRange", few},
                     {"HybridGroupDividesRanks", "RanksFormReplicas", few},
                     {"ShardsDivideRanks", "DegreesInRange", few},
                     {"ShardsDivideRanks", "RanksFormReplicas", few},
                     {"TrainsSomething", "LayersInRange", few},
                     {"FreezesWithinLayers", "LayersInRange", few},
                     {"EveryNthWithinLayers", "LayersInRange", few},
                     {"FractionSelectsBlock", "LayersInRange", few},
                     {"LayersAddUp", "LayersInRange", few},
                     {"EpsilonIsRepresentable", "MasterAsWideAsCompute", "it is, in fp64"}},
                    {{"monomorph::rule::FeedForwardMultipleIsRead", "which reads d_ff and its multiple"}});
  CHECK(swept.n_pairs == Swept::selected.n * (Swept::selected.n - 1) / 2);
}
