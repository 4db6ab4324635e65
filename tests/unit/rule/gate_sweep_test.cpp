// The whole gate, in its stages: rules about the types of a recipe's members, about parts of blocks and their tensors,
// and about what is planned. Of two broken rules both are told if they are of one stage, and else that of the earlier
// one.
#include "sweep.hpp"

namespace gate_sweep {

using namespace monomorph;
using namespace monomorph::testing;

/// Of which nothing is left out.
struct Base {
  static constexpr DecoderSpec model{
      .vocab_size = 64, .n_layers = 2, .n_heads = 2, .d_model = 16, .context_length = 16, .vocab_multiple = 16};
  static constexpr MeshSpec mesh{};
  static constexpr Expect expect{.params = 7872};
  static constexpr Budget budget{.ranks = 2, .bytes_per_rank = gib(1), .micro_batch = 1};
  using layers = Stack<Run<DecoderBlock, 2>>;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = optim::AdamW;
  using objective = monomorph::objective::NextToken;
  using attention = monomorph::attention::Causal;
  using finetuning = monomorph::finetuning::All;
  using schedule = monomorph::schedule::WarmupDecay;
  using observer = monomorph::observer::TensorNorms;
  using device = monomorph::device::Cpu;
};

/// What of the recipe a change is about: two of the same are no pair, as one undoes the other.
enum class Member {
  model,
  mesh,
  expect,
  budget,
  layers,
  sharding,
  precision,
  checkpointing,
  optimizer,
  objective,
  attention,
  finetuning,
  schedule,
  observer,
  device,
};

struct Nothing {};

/// The ways in which the member of an axis can be none of its policies.
#define AXIS(name, OtherAxis)                                                   \
  struct name##_changes {                                                       \
    static constexpr Member member = Member::name;                              \
    template <class P> struct By {                                              \
      static constexpr Member member = Member::name;                            \
      template <class R> struct in : R { using name = P; };                     \
    };                                                                          \
    struct NoType {                                                             \
      static constexpr Member member = Member::name;                            \
      template <class R> struct in : R { static constexpr int name = 1; };      \
    };                                                                          \
    struct Final final : Base::name {};                                         \
    using Mistakes = std::tuple<By<Nothing>, NoType, By<Final>, By<OtherAxis>>; \
  };
#define VALUE(name)                                                             \
  struct name##_changes {                                                       \
    struct NoValue {                                                            \
      static constexpr Member member = Member::name;                            \
      template <class R> struct in : R { using name = Nothing; };               \
    };                                                                          \
    struct OtherValue {                                                         \
      static constexpr Member member = Member::name;                            \
      template <class R> struct in : R { static constexpr int name = 1; };      \
    };                                                                          \
    template <auto value> struct As {                                           \
      static constexpr Member member = Member::name;                            \
      template <class R> struct in : R { static constexpr auto name = value; }; \
    };                                                                          \
    using Mistakes = std::tuple<NoValue, OtherValue>;                           \
  };
AXIS(sharding, optim::AdamW)
AXIS(precision, optim::AdamW)
AXIS(checkpointing, optim::AdamW)
AXIS(optimizer, monomorph::sharding::FullShard)
AXIS(objective, optim::AdamW)
AXIS(attention, optim::AdamW)
AXIS(finetuning, optim::AdamW)
AXIS(schedule, optim::AdamW)
AXIS(observer, optim::AdamW)
AXIS(device, optim::AdamW)
VALUE(model)
VALUE(mesh)
VALUE(expect)
VALUE(budget)
template <template <class R> class Block> struct Of {
  static constexpr Member member = Member::layers;
  template <class R> struct in : R { using layers = Stack<Run<Block, 2>>; };
};
struct LayersOfNoStack {
  static constexpr Member member = Member::layers;
  template <class R> struct in : R { using layers = Nothing; };
};

// Values.
constexpr DecoderSpec with(auto change) {
  DecoderSpec model = Base::model;
  change(model);
  return model;
}
using NoVocabulary = model_changes::As<with([](DecoderSpec& m) { m.vocab_size = 0; })>;
using ManyHeads = model_changes::As<with([](DecoderSpec& m) { m.n_heads = 3; })>;
using NoRanks = budget_changes::As<Budget{.ranks = 0, .bytes_per_rank = gib(1), .micro_batch = 1}>;

// Products in fp8.
struct NoHistory : monomorph::precision::Fp8Mixed {
  static constexpr int amax_history = 0;
};
struct HistoryOfFp32 : monomorph::precision::Fp32 {
  static constexpr int amax_history = 4;
};

/// Rules that policies and layers export.
template <int id> struct Own {
  static constexpr bool holds = false;
  static consteval void explain() {}
};
struct OwnRule : observer::TensorNorms {
  using observer::TensorNorms::TensorNorms;
  template <class R> using rules = RuleList<Own<1>>;
};
struct NoRules : monomorph::objective::NextToken {
  static constexpr int rules = 1;
};

// Parts of blocks, and blocks.
template <class R> struct WithoutProject : DenseMlp<R> {
  static constexpr double projection_flops_per_token() { return 1; }
};
template <class R> using OfPart = typename Composed<BlockOrder::parallel, WithoutProject>::template Block<R>;
template <class R> struct WithoutParams : DecoderBlock<R> { using Params = Nothing; };
template <class R> struct WithoutCounters : DecoderBlock<R> { static constexpr double n_counters = 1; };
template <class R> struct OwnRuleOfBlock : DecoderBlock<R> { template <class Recipe> using rules = RuleList<Own<2>>; };
struct Needy : monomorph::schedule::WarmupDecay {
  using needs = int;
};
struct WithoutSets : monomorph::device::Cpu {
  using kernel_sets = int;
};

/// Names for more tensors than a block may have.
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static_assert(letters.size() >= ParameterLayout::capacity);

/// Tensors that are not as they must be.
enum class Tensors { too_many, of_one_name, empty, beyond_unit, in_one_place, begun_below_zero, unequal };
template <class R, Tensors wrong> struct OfTensors : DecoderBlock<R> {
  struct Params : DecoderBlock<R>::Params {
    constexpr explicit Params(int block = 0) : DecoderBlock<R>::Params(block) {
      constexpr auto linear = ParameterClass::linear;
      if (wrong == Tensors::too_many)
        for (int i = 0; i < ParameterLayout::capacity; ++i) this->take_tensor(letters.substr(i, 1), {1, 1}, linear, {});
      if (wrong == Tensors::of_one_name)
        for (int i = 0; i < 2; ++i) this->take_tensor("twice", {1, 1}, linear, {});
      if (wrong == Tensors::empty) this->add_part("nothing", this->take({1, 1}), 0, 0, linear, {});
      if (wrong == Tensors::beyond_unit) this->add_part("beyond", this->take({1, 64}), 1, 1, linear, {});
      if (wrong == Tensors::in_one_place) {
        const Slice slice = this->take({1, 1});
        this->add_part("one", slice, 0, 1, linear, {});
        this->add_part("other", slice, 0, 1, linear, {});
      }
      if (wrong == Tensors::begun_below_zero) this->take_tensor("begun", {1, 1}, linear, {.std = -1});
      if (wrong == Tensors::unequal && block == 1) this->take_tensor("one", {1, 1}, linear, {});
    }
  };
};
template <Tensors wrong> struct WithTensors { template <class R> using Block = OfTensors<R, wrong>; };

// What is selected by name, and what is planned.
struct NoNames {
  static constexpr ParameterSelector parameters[] = {"layers.*.mlp.sideways.weight"};
};
struct NoLists {};
struct NoGroups {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*.mlp.sideways.weight", .lr_multiplier = 0.5}};
};
using OtherCount = expect_changes::As<Expect{.params = 7}>;
using LittleMemory = budget_changes::As<Budget{.ranks = 2, .bytes_per_rank = 1000, .micro_batch = 1}>;

template <class... Tuples> using Joined = decltype(std::tuple_cat(std::declval<Tuples>()...));
struct Gate {
  using Base = gate_sweep::Base;
  /// By generation: each member, wrong in each way.
  using Mistakes = Joined<model_changes::Mistakes, mesh_changes::Mistakes, expect_changes::Mistakes,
                          budget_changes::Mistakes, sharding_changes::Mistakes, precision_changes::Mistakes,
                          checkpointing_changes::Mistakes, optimizer_changes::Mistakes, objective_changes::Mistakes,
                          attention_changes::Mistakes, finetuning_changes::Mistakes, schedule_changes::Mistakes,
                          observer_changes::Mistakes, device_changes::Mistakes>;
  using Others =
      std::tuple<LayersOfNoStack, NoVocabulary, ManyHeads, NoRanks, precision_changes::By<NoHistory>,
                 precision_changes::By<HistoryOfFp32>, observer_changes::By<OwnRule>, objective_changes::By<NoRules>,
                 Of<OfPart>, Of<WithoutParams>, Of<WithoutCounters>, schedule_changes::By<Needy>,
                 device_changes::By<WithoutSets>, Of<WithTensors<Tensors::too_many>::Block>,
                 Of<WithTensors<Tensors::of_one_name>::Block>, Of<WithTensors<Tensors::empty>::Block>,
                 Of<WithTensors<Tensors::beyond_unit>::Block>, Of<WithTensors<Tensors::in_one_place>::Block>,
                 Of<WithTensors<Tensors::begun_below_zero>::Block>, Of<WithTensors<Tensors::unequal>::Block>,
                 Of<OwnRuleOfBlock>, finetuning_changes::By<monomorph::finetuning::Freeze<NoNames>>,
                 finetuning_changes::By<monomorph::finetuning::Freeze<NoLists>>,
                 optimizer_changes::By<optim::Grouped<optim::AdamW, NoGroups>>, OtherCount, LittleMemory>;
  using Changes = Joined<Mistakes, Others>;
  static constexpr int n_mistakes = std::tuple_size_v<Mistakes>, n_changes = std::tuple_size_v<Changes>;
  template <int i> using Change = std::tuple_element_t<i, Changes>;
  template <class R> static consteval auto rules() { return rule::all_rules<R>(); }
};
using Swept = Sweep<Gate>;

/// The stage in which the gate stops.
template <class R> consteval int stage_of() {
  using namespace rule;
  if constexpr (!decltype(member_rules<R>())::all_hold)
    return 1;
  else if constexpr (!decltype(field_rules<R>())::all_hold)
    return 2;
  else if constexpr (!decltype(value_rules<R>())::all_hold)
    return 3;
  else if constexpr (!decltype(shape_rules<R>())::all_hold)
    return 4;
  else if constexpr (!decltype(composition_rules<R>())::all_hold)
    return 5;
  else if constexpr (!decltype(part_rules<R>())::all_hold)
    return 6;
  else if constexpr (!decltype(layout_rules<R>())::all_hold)
    return 7;
  else if constexpr (!decltype(freeze_rules<R>())::all_hold)
    return 8;
  else
    return 9;
}

int n_pairs = 0, n_of_one_stage = 0;
template <int first, int second> void check_pair() {
  constexpr int a = Swept::selected.changes[first], b = Swept::selected.changes[second];
  if constexpr (Gate::Change<a>::member != Gate::Change<b>::member) {
    constexpr int stage_a = stage_of<Swept::Changed<a>>(), stage_b = stage_of<Swept::Changed<b>>();
    Broken expected;
    if (stage_a <= stage_b) expected.add(Swept::alone[a].names[0]);
    if (stage_b <= stage_a) expected.add(Swept::alone[b].names[0]);
    constexpr Broken pair = Swept::broken<Swept::Changed<a, Swept::Changed<b>>>;
    INFO(Swept::alone[a].names[0] << " and " << Swept::alone[b].names[0] << " together: " << text(pair));
    CHECK(pair == expected);
    ++n_pairs;
    n_of_one_stage += stage_a == stage_b;
  }
}
template <int first, int... seconds> void check_with(std::integer_sequence<int, seconds...>) {
  (check_pair<first, seconds>(), ...);
}
template <int... i> void check_all(std::integer_sequence<int, i...>) {
  (check_with<i>(std::make_integer_sequence<int, i>{}), ...);
}

TEST_CASE("the recipe whose members are to be broken breaks nothing") {
  INFO(text(Swept::broken<Base>));
  CHECK(Swept::broken<Base>.n == 0);
}

TEST_CASE("each member that is wrong in any way, and each other change, breaks one rule") {
  for (int i = 0; i < Gate::n_changes; ++i) {
    INFO("change " << i << " breaks " << text(Swept::alone[i]));
    CHECK(Swept::alone[i].n == 1);
  }
  CHECK(Gate::n_mistakes == 4 * 2 + 10 * 4);
  CHECK(Swept::selected.n == 4 + 11 + 24);  // values, axes and layers; and all others but NoLists and the first Own
}

TEST_CASE("two changes break the rules of both if those are of one stage, and else that of the earlier one") {
  check_all(std::make_integer_sequence<int, Swept::selected.n>{});
  CHECK(n_pairs == 658);
  CHECK(n_of_one_stage == 129);
}

}  // namespace gate_sweep
