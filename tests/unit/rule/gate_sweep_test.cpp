// Rules about the types of a recipe's members, about policies, and about what is planned. Those about blocks and kinds
// of model: layer_sweep_test.cpp.
#include "gate_sweep.hpp"

namespace gate_sweep {

using namespace monomorph;
using namespace monomorph::testing;
using Base = WholeRecipe;

struct Nothing {};

/// The ways in which the member of an axis can be none of its policies.
template <template <class P> class By, class Policy, class OtherPolicy> struct AxisMistakes {
  struct Final final : Policy {};
  using type = std::tuple<By<Nothing>, By<Final>, By<OtherPolicy>>;
};
/// And a member of a name can be of another kind.
#define NO_TYPE(name)                                                    \
  struct No_##name {                                                     \
    static constexpr unsigned members = name##_;                         \
    template <class R> struct in : R { static constexpr int name = 1; }; \
  };
#define NO_VALUE(name)                                                   \
  struct No_##name {                                                     \
    static constexpr unsigned members = name##_;                         \
    template <class R> struct in : R { using name = Nothing; };          \
  };                                                                     \
  struct Other_##name {                                                  \
    static constexpr unsigned members = name##_;                         \
    template <class R> struct in : R { static constexpr int name = 1; }; \
  };
NO_TYPE(sharding)
NO_TYPE(precision)
NO_TYPE(checkpointing)
NO_TYPE(optimizer)
NO_TYPE(objective)
NO_TYPE(attention)
NO_TYPE(finetuning)
NO_TYPE(schedule)
NO_TYPE(observer)
NO_TYPE(device)
NO_VALUE(model)
NO_VALUE(mesh)
NO_VALUE(expect)
NO_VALUE(budget)
using optim::AdamW;
using Values = std::tuple<No_model, Other_model, No_mesh, Other_mesh, No_expect, Other_expect, No_budget, Other_budget>;
using NoTypes = std::tuple<No_sharding, No_precision, No_checkpointing, No_optimizer, No_objective, No_attention,
                           No_finetuning, No_schedule, No_observer, No_device>;
using Policies =
    AllOf<AxisMistakes<ShardedBy, Base::sharding, AdamW>::type, AxisMistakes<In, Base::precision, AdamW>::type,
          AxisMistakes<CheckpointedBy, Base::checkpointing, AdamW>::type,
          AxisMistakes<OptimizedBy, Base::optimizer, sharding::FullShard>::type,
          AxisMistakes<Pursuing, Base::objective, AdamW>::type, AxisMistakes<Attending, Base::attention, AdamW>::type,
          AxisMistakes<FinetunedBy, Base::finetuning, AdamW>::type,
          AxisMistakes<ScheduledBy, Base::schedule, AdamW>::type, AxisMistakes<ObservedBy, Base::observer, AdamW>::type,
          AxisMistakes<Computing, Base::device, AdamW>::type>;

// Values.
using NoVocabulary = OfModel<with([](DecoderSpec& m) { m.vocab_size = 0; })>;
using ManyHeads = OfModel<with([](DecoderSpec& m) { m.n_heads = 3; })>;
using NoRanks = Within<Budget{.ranks = 0, .bytes_per_rank = gib(1), .micro_batch = 1}>;

/// The whole recipe, at once: what is left out, and what no variant could derive from. Both are no pair with anything.
struct WithoutOptimizer {
  static constexpr unsigned members = ~0U;
  template <class R> struct in {
    static constexpr auto model = R::model;
    using sharding = typename R::sharding;
    using precision = typename R::precision;
    using checkpointing = typename R::checkpointing;
  };
};
struct FinalRecipe {
  static constexpr unsigned members = ~0U;
  template <class R> struct in final : R {};
};
/// A target for another device than the recipe names.
struct OtherDevice : device::Cpu {
  static constexpr std::string_view name = "OtherDevice";
};
struct OnOtherDevice {
  static constexpr unsigned members = ~0U;
  template <class R> using in = On<R, OtherDevice>;
};

// Products in fp8.
struct NoHistory : precision::Fp8Mixed {
  static constexpr int amax_history = 0;
};
struct HistoryOfFp32 : precision::Fp32 {
  static constexpr int amax_history = 4;
};

// Logits.
struct LogitsOfBf16 : precision::Fp32 {
  static constexpr DType logits_dtype = DType::bf16;
};
using RoundedPreferences =
    Both<Both<In<precision::NarrowLogits<precision::Bf16Mixed>>, Pursuing<objective::Preferences>>,
         Attending<attention::WithinDocuments>>;

struct OwnRule : observer::TensorNorms {
  using observer::TensorNorms::TensorNorms;
  template <class R> using rules = RuleList<Own<1>>;
};
struct NoRules : objective::NextToken {
  static constexpr int rules = 1;
};

// Kernels.
struct Needy : schedule::WarmupDecay {
  using needs = int;
};
struct WithoutSets : device::Cpu {
  using kernel_sets = int;
};
struct OfDenseDecoders : device::Cpu {
  using kernel_sets = KernelSets<>;
};

// Objectives that lack a part, or have one that is none.
struct HidesNothing : objective::NextToken {
  static constexpr bool predicts_next_token = false;
};
struct ManyTexts : objective::ContrastivePairs {
  static constexpr int texts_per_sample = 9;
};
struct Unplanned : objective::ContrastivePairs {
  static constexpr int workspace_elements(std::int64_t) { return 1; }
};
struct ManyMetrics : objective::NextToken {
  static constexpr std::array<ObjectiveMetric, most_objective_metrics + 1> metrics{};
};
struct ManySequences : objective::Preferences {
  static constexpr int sequences_per_sample = 9;
};

// Teachers.
struct OtherVocabulary : Base {
  static constexpr auto model = with([](DecoderSpec& m) { m.vocab_size = 48; });
};
struct OtherDocuments : Base {
  using attention = monomorph::attention::WithinDocuments;
};
struct NotAsked : objective::Preferences {
  using Teacher = Base;
};

// Parameters that are selected, and groups of them.
template <std::size_t n> struct Pattern {
  char text[n];
  constexpr Pattern(const char (&from)[n]) { std::copy(from, from + n, text); }
};
template <Pattern pattern> struct Named {
  static constexpr ParameterSelector parameters[] = {pattern.text};
  static constexpr ParameterGroup groups[] = {{.parameters = pattern.text, .lr_multiplier = 0.5}};
};
struct OfHead {
  static constexpr ParameterSelector parameters[] = {ParameterClass::head};
  static constexpr ParameterGroup groups[] = {{.parameters = ParameterClass::head, .lr_multiplier = 0.5}};
};
struct NoLists {};
struct Twice {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*", .lr_multiplier = 0.5},
                                              {.parameters = "layers.*.mlp.*", .lr_multiplier = 0.1}};
};
struct Motionless {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*", .lr_multiplier = 0}};
};
struct WithoutDecay {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*", .weight_decay_multiplier = 0.5}};
};
/// Its weights do not decay.
struct SignDescent {
  struct Hparams {
    Field<double> lr{1e-3, 0.0, 1.0, "peak learning rate"};
  };
  static constexpr UpdateScope scope(ParameterClass) { return UpdateScope::elements; }
  static constexpr StateBuffers state(ParameterClass) { return {"momentum"}; }
  template <class Queue> static void update(Queue, const auto&, const Hparams&, const auto&) {}
};
template <class Groups, class Optimizer = AdamW> using InGroups = OptimizedBy<optim::Grouped<Optimizer, Groups>>;

// Matrices that are kept in NF4.
using OverNf4 = finetuning::Nf4Base<finetuning::LowRank<LowRankSpec{.rank = 4, .alpha = 8}>>;
struct QuantizesTables : OverNf4 {
  static constexpr bool quantizes_parameter(std::string_view, ParameterClass of) {
    return of == ParameterClass::linear || of == ParameterClass::embedding;
  }
};
struct QuantizesQueries : OverNf4 {
  static constexpr bool quantizes_parameter(std::string_view name, ParameterClass) {
    return name.ends_with("attention.q.weight");
  }
};

/// Its groups are not what divides the optimizer's state.
struct OtherGroups : sharding::HybridShard<2> {
  static constexpr int optimizer_shards(int dp) { return dp; }
};
template <class P> using OnHost = optim::HostState<P>;

// What is planned.
using OtherCount = Expecting<Expect{.params = 7}>;
using LittleMemory = Within<Budget{.ranks = 2, .bytes_per_rank = 1 << 16, .micro_batch = 1}>;
/// Values of several fields at once.
using NarrowHeads = OfModel<with([](DecoderSpec& m) { m.head_dim = 1, m.qk_norm = true; })>;
using UnreadMultiple = OfModel<with([](DecoderSpec& m) { m.d_ff_multiple = 64; })>;
using ManyParameters =
    OfModel<with([](DecoderSpec& m) { m.d_model = 1 << 23, m.n_heads = 1 << 16, m.initialization.std = 1e-4; })>;
using SingleFeature = OfModel<with([](DecoderSpec& m) { m.d_model = 1, m.n_heads = 1; })>;
using WideFeedForward = OfModel<with([](DecoderSpec& m) { m.d_ff = 64 * 16 + 1; })>;
using EqualBetas = OfModel<with([](DecoderSpec& m) {
  m.position = Position::rotary;
  m.rotary.yarn = {.factor = 4, .original_context = 8, .beta_fast = 32, .beta_slow = 32};
})>;
using TwoFeatures = OfModel<with([](DecoderSpec& m) {
  m.position = Position::rotary;
  m.head_dim = 2;
  m.rotary.dynamic = {.original_context = 16, .factor = 2};
})>;
using ManyTokens = Both<OfModel<with([](DecoderSpec& m) { m.context_length = 128; })>,
                        Within<Budget{.ranks = 2, .bytes_per_rank = gib(1), .micro_batch = 1 << 24}>>;
using ReducedAlone =
    Both<In<precision::Bf16MixedReducingBf16>, Within<Budget{.ranks = 1, .bytes_per_rank = gib(1), .micro_batch = 1}>>;
using ManyRanks = Within<Budget{.ranks = 4096, .bytes_per_rank = gib(64), .micro_batch = 1}>;

using checkpointing::Offload, checkpointing::Selective;
using Mistakes = AllOf<Values, NoTypes, Policies>;
using Others =
    std::tuple<Of<Nothing>, NoVocabulary, ManyHeads, NoRanks, In<NoHistory>, In<HistoryOfFp32>, In<LogitsOfBf16>,
               RoundedPreferences, ObservedBy<OwnRule>, Pursuing<NoRules>, ScheduledBy<Needy>, Computing<WithoutSets>,
               Both<Computing<OfDenseDecoders>, OptimizedBy<optim::Sgd>>, Pursuing<HidesNothing>, Pursuing<ManyTexts>,
               Pursuing<Unplanned>, Pursuing<ManyMetrics>, Pursuing<ManySequences>, Pursuing<objective::Preferences>,
               Pursuing<objective::ContrastivePairs>, Pursuing<objective::MaskedTokens<3>>,
               Attending<attention::Bidirectional>, Attending<attention::Prefix<17>>,
               Attending<attention::SlidingWindow<0>>, Pursuing<objective::Distillation<Nothing>>,
               Pursuing<objective::Distillation<OtherVocabulary>>, Pursuing<objective::Distillation<OtherDocuments>>,
               Both<Pursuing<NotAsked>, Attending<attention::WithinDocuments>>, CheckpointedBy<Selective<Recompute{}>>,
               CheckpointedBy<Offload<>>, ShardedBy<sharding::HostParameters<sharding::FullShard>>,
               Both<ShardedBy<sharding::HostParameters<sharding::ShardGradOp>>, OptimizedBy<OnHost<AdamW>>>,
               ShardedBy<OtherGroups>, OptimizedBy<optim::Bf16State<optim::Averaged<AdamW>>>,
               OptimizedBy<optim::ByClass<OnHost<optim::Muon>, AdamW>>,
               OptimizedBy<optim::ByClass<optim::Muon, optim::Grouped<AdamW, OfHead>>>, InGroups<Motionless>,
               InGroups<WithoutDecay, SignDescent>, FinetunedBy<finetuning::Freeze<NoLists>>,
               FinetunedBy<finetuning::Freeze<Named<"layers.*.mlp.sideways.weight">>>,
               FinetunedBy<finetuning::TrainOnly<OfHead>>,
               FinetunedBy<finetuning::Freeze<Named<"*.attention.q.weight">>>,
               FinetunedBy<finetuning::LowRank<LowRankSpec{.rank = 4, .alpha = 8, .targets = {.gate = true}}>>,
               FinetunedBy<finetuning::Nf4Base<finetuning::Freeze<Named<"embedding.*">>>>, FinetunedBy<QuantizesTables>,
               Both<OfModel<with([](DecoderSpec& m) { m.d_ff = 63; })>, FinetunedBy<OverNf4>>,
               FinetunedBy<QuantizesQueries>, InGroups<Named<"layers.*.mlp.sideways.weight">>, InGroups<OfHead>,
               InGroups<Twice>, InGroups<Named<"layers.*.attention.q.bias">>, OtherCount, LittleMemory, ManyRanks,
               NarrowHeads, UnreadMultiple, ManyParameters, SingleFeature, WideFeedForward, EqualBetas, TwoFeatures,
               ManyTokens, ReducedAlone, WithoutOptimizer, FinalRecipe, OnOtherDevice>;
struct MemberChanges : GateChanges<AllOf<Mistakes, Others>> {};
using Swept = Sweep<MemberChanges>;
[[maybe_unused]] const int told = Swept::tell();

TEST_CASE("the recipe whose members are to be broken breaks nothing") {
  INFO(text(Swept::broken<Base>));
  CHECK(Swept::broken<Base>.n == 0);
}

TEST_CASE("each member that is wrong in any way, and each other change, breaks one rule") {
  for (int i = 0; i < Swept::n_changes; ++i) {
    INFO("change " << i << " breaks " << text(Swept::alone[i]));
    CHECK(Swept::alone[i].n == 1);
  }
  CHECK(std::tuple_size_v<Mistakes> == 4 * 2 + 10 * 4);
}

TEST_CASE("two changes break the rules of both if those are of one stage, and else that of the earlier one") {
  Swept swept;
  swept.check_pairs({{"NextTokenIsHidden", "ObjectiveHasEmbeddings", "an objective over embeddings predicts no token"},
                     {"PrefixWithinContext", "TokensCountable", "the longer context has room for the prefix"}});
  CHECK(swept.n_pairs > 300);
  CHECK(swept.n_of_one_stage > 200);
}

}  // namespace gate_sweep
