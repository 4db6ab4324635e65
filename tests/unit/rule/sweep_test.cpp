#include <monomorph/core/type_name.hpp>
#include <monomorph/run.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>
#include "support/catch.hpp"

/// Breaks the rules about values by changing the fields of specs, as MONOMORPH_SPEC lists them, and policies: alone,
/// and in pairs. Each rule that is broken is one error (tests/compile_fail); here is told which ones are.
namespace {

using namespace monomorph;

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

constexpr int n_values = 8;

template <class T> constexpr void change(T& field, int i) {
  using Value = decltype(field.value);
  if constexpr (std::is_same_v<Value, bool>)
    field = i == 0 ? !field.value : field.value;
  else if constexpr (std::is_enum_v<Value>)
    field = i < 2 ? Value(i) : field.value;
  else if constexpr (std::is_floating_point_v<Value>)
    field = std::array<double, n_values>{-1, 0, 1, 1.1, 1e-40, 1e300, 2, 20}[i];
  else
    field = static_cast<Value>(std::array<int, n_values>{-1, 0, 1, 3, 5, 48, 4096, 1 << 30}[i]);
}

/// Field `index` of a spec, counted through the specs in it, as value `i` of those above.
template <class Spec> constexpr void change_field(Spec& spec, int& index, int i) {
  for_each_field(spec, [&](const char*, auto& field) {
    if constexpr (DescribedSpec<std::remove_reference_t<decltype(field)>>)
      change_field(field, index, i);
    else if (index-- == 0)
      change(field, i);
  });
}
template <class Spec> constexpr Spec changed(Spec spec, int index, int i) {
  change_field(spec, index, i);
  return spec;
}
template <class Spec> constexpr int n_fields(const Spec& spec) {
  int n = 0;
  for_each_field(spec, [&](const char*, const auto& field) {
    if constexpr (DescribedSpec<std::remove_cvref_t<decltype(field)>>)
      n += n_fields(field);
    else
      ++n;
  });
  return n;
}

/// What breaks something: `in<R>` is R with one change.
template <int field, int i> struct ModelField {
  template <class R> struct in : R { static constexpr DecoderSpec model = changed(R::model, field, i); };
};
template <int field, int i> struct MeshField {
  template <class R> struct in : R { static constexpr MeshSpec mesh = changed(R::mesh, field, i); };
};
template <int field, int i> struct BudgetField {
  template <class R> struct in : R { static constexpr Budget budget = changed(R::budget, field, i); };
};
template <class P> struct ShardedBy {
  template <class R> struct in : R { using sharding = P; };
};
template <class P> struct In {
  template <class R> struct in : R { using precision = P; };
};
template <class P> struct CheckpointedBy {
  template <class R> struct in : R { using checkpointing = P; };
};
template <class P> struct OptimizedBy {
  template <class R> struct in : R { using optimizer = P; };
};
template <class P> struct FinetunedBy {
  template <class R> struct in : R { using finetuning = P; };
};
template <class P> struct Pursuing {
  template <class R> struct in : R { using objective = P; };
};
template <class L> struct Of {
  template <class R> struct in : R { using layers = L; };
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

constexpr int model_changes = n_fields(Base::model) * n_values, mesh_changes = n_fields(Base::mesh) * n_values,
              budget_changes = n_fields(Base::budget) * n_values,
              n_changes = model_changes + mesh_changes + budget_changes + static_cast<int>(std::tuple_size_v<Policies>);

/// Change i of all, as a type.
template <int i> constexpr auto change_at() {
  constexpr int mesh = i - model_changes, budget = mesh - mesh_changes, policy = budget - budget_changes;
  if constexpr (i < model_changes)
    return ModelField<i / n_values, i % n_values>{};
  else if constexpr (mesh < mesh_changes)
    return MeshField<mesh / n_values, mesh % n_values>{};
  else if constexpr (budget < budget_changes)
    return BudgetField<budget / n_values, budget % n_values>{};
  else
    return std::tuple_element_t<policy, Policies>{};
}
template <int i> using Change = decltype(change_at<i>());
template <int i, class R = Base> using Changed = typename Change<i>::template in<R>;

/// The names of the rules that a recipe breaks, sorted.
struct Broken {
  int n = 0;
  std::array<std::string_view, 12> names{};
  constexpr void add(std::string_view rule) {
    names[n++] = rule;
    for (int i = n - 1; i > 0 && names[i] < names[i - 1]; --i) std::swap(names[i], names[i - 1]);
  }
  constexpr bool has(std::string_view rule) const {
    return std::find(names.begin(), names.begin() + n, rule) != names.begin() + n;
  }
  friend constexpr bool operator==(const Broken&, const Broken&) = default;
};
template <class Rule>
inline constexpr std::string_view name_of_rule = type_name<Rule>().substr(0, type_name<Rule>().find('<'));
template <class... Rules> constexpr Broken broken_of(RuleList<Rules...>) {
  Broken broken;
  const auto judge = [&]<class Rule>(std::type_identity<Rule>) {
    if constexpr (!Rule::holds) broken.add(name_of_rule<Rule>);
  };
  (judge(std::type_identity<Rules>{}), ...);
  return broken;
}
template <class R> inline constexpr Broken broken = broken_of(rule::value_rules<R>());

template <int... i> constexpr auto judge_alone(std::integer_sequence<int, i...>) {
  return std::array<Broken, n_changes>{broken<Changed<i>>...};
}
constexpr auto alone = judge_alone(std::make_integer_sequence<int, n_changes>{});

/// The first change that breaks a rule and no other, for each rule that has one.
struct Selected {
  int n = 0;
  std::array<int, n_changes> changes{};
};
constexpr Selected select() {
  Selected selected;
  for (int i = 0; i < n_changes; ++i) {
    bool is_new = alone[i].n == 1;
    for (int j = 0; j < selected.n; ++j) is_new = is_new && alone[i].names[0] != alone[selected.changes[j]].names[0];
    if (is_new) selected.changes[selected.n++] = i;
  }
  return selected;
}
constexpr Selected selected = select();

template <int first, int... others> constexpr auto judge_with(std::integer_sequence<int, others...>) {
  return std::array<Broken, sizeof...(others)>{
      broken<Changed<selected.changes[first], Changed<selected.changes[others]>>>...};
}
template <int first> constexpr auto pairs_with = judge_with<first>(std::make_integer_sequence<int, first>{});

std::string text(const Broken& broken) {
  std::string text;
  for (int i = 0; i < broken.n; ++i) text += (i ? ", " : "") + std::string(broken.names[i]);
  return text.empty() ? "nothing" : text;
}

}  // namespace

TEST_CASE("the recipe to break breaks nothing") {
  INFO(text(broken<Base>));
  CHECK(broken<Base>.n == 0);
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

TEST_CASE("most rules are broken alone by one change") { CHECK(selected.n >= 53); }

/// Of two changes, one may undo the other or make a rule hold that it joins in, but they bring no rule of a third
/// thing, and none is told twice.
TEST_CASE("two changes break the rules of both") {
  int n_pairs = 0, n_both = 0;
  const auto check = [&](const Broken& pair, int first, int second) {
    Broken both;
    both.add(alone[first].names[0]);
    both.add(alone[second].names[0]);
    ++n_pairs;
    n_both += pair == both;
    INFO(text(both) << " alone, together " << text(pair));
    CHECK(pair.n >= 1);
    CHECK(pair.n <= 2);
    for (int i = 0; i < pair.n; ++i) {
      const bool joins_both = pair.names[i] == "monomorph::rule::FeedForwardMultipleIsRead";  // d_ff and its multiple
      CHECK((both.has(pair.names[i]) || joins_both));
      CHECK((i == 0 || pair.names[i] != pair.names[i - 1]));
    }
  };
  [&]<int... i>(std::integer_sequence<int, i...>) {
    const auto check_pairs = [&](const auto& pairs, int first) {
      for (std::size_t j = 0; j < pairs.size(); ++j) check(pairs[j], selected.changes[first], selected.changes[j]);
    };
    (check_pairs(pairs_with<i>, i), ...);
  }
  (std::make_integer_sequence<int, selected.n>{});
  CHECK(n_pairs == selected.n * (selected.n - 1) / 2);
  CHECK(n_both > n_pairs * 9 / 10);  // the others change the same thing twice, or one where the other reads it
}
