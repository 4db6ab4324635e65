// How the fields of specs are given: each that has no default is left out, and each is given as what its type cannot
// hold. What is said of every field: tests/compile_fail/every_field_left_out.cpp and every_field_narrowed.cpp.
#include "gate_sweep.hpp"

namespace fields_sweep {

using namespace monomorph;
using namespace monomorph::testing;

enum class Given { not_at_all, narrowed };
template <class Field> constexpr bool is_required = false;
template <class T> constexpr bool is_required<Required<T>> = true;

/// A spec of which field `index` is given so. What has a default stays as it is where it is left out.
template <class Spec> constexpr Spec given(Spec spec, int index, Given how) {
  visit_field(spec, index, [how](auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if (how == Given::narrowed)
      field.narrowed = true;
    else if constexpr (is_required<Field>)
      field = Field{};
  });
  return spec;
}
template <class Spec> constexpr bool may_be_left_out(const Spec& spec, int index) {
  bool may_be = true;
  visit_field(spec, index, [&](const auto& field) { may_be = !is_required<std::remove_cvref_t<decltype(field)>>; });
  return may_be;
}

struct OfEncoder : WholeRecipe {
  static constexpr EncoderSpec model{
      .vocab_size = 64, .n_layers = 2, .n_heads = 2, .d_model = 16, .context_length = 16, .vocab_multiple = 16};
  using objective = monomorph::objective::ContrastivePairs;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
};
struct Encoder : OfEncoder {
  static constexpr Expect expect{.params = plan::params<OfEncoder>};
};

constexpr LowRankSpec low_rank{.rank = 4, .alpha = 8};
constexpr BlockShape shape{.d_ff = 32};
constexpr MixtureSpec mixture{.n_experts = 4, .top_k = 2};

#define CHANGE_FIELD(Name, member)                                                                 \
  template <int i, Given how> struct Name {                                                        \
    static constexpr unsigned members = member##_;                                                 \
    template <class R> struct in : R { static constexpr auto member = given(R::member, i, how); }; \
  };
CHANGE_FIELD(OfModelField, model)
CHANGE_FIELD(OfMesh, mesh)
CHANGE_FIELD(OfExpect, expect)
CHANGE_FIELD(OfBudget, budget)
template <int i, Given how> using OfLowRank = FinetunedBy<finetuning::LowRank<given(low_rank, i, how)>>;
template <int i, Given how> using OfShape = OfBlock<Shaped<given(shape, i, how)>::template Block>;
/// Experts have no biases.
using NoBias = OfModel<with([](DecoderSpec& m) { m.bias.mlp = false; })>;
template <int i, Given how> using OfMixture = Both<NoBias, OfBlock<Mixture<given(mixture, i, how)>::template Block>>;

/// All fields of a spec, given in one way.
template <template <int, Given> class Change, Given how, class Fields> struct All;
template <template <int, Given> class Change, Given how, int... i>
struct All<Change, how, std::integer_sequence<int, i...>> {
  using type = std::tuple<Change<i, how>...>;
};
template <template <int, Given> class Change, Given how, int n>
using Each = typename All<Change, how, std::make_integer_sequence<int, n>>::type;

/// Of one way: the model's fields first.
template <class R, Given how>
using OfRecipe = AllOf<Each<OfModelField, how, n_fields(R::model)>, Each<OfMesh, how, n_fields(R::mesh)>,
                       Each<OfExpect, how, n_fields(R::expect)>, Each<OfBudget, how, n_fields(R::budget)>>;
template <Given how>
using OfPolicies = AllOf<Each<OfLowRank, how, n_fields(low_rank)>, Each<OfShape, how, n_fields(shape)>,
                         Each<OfMixture, how, n_fields(mixture)>>;

using Narrowed = AllOf<OfRecipe<WholeRecipe, Given::narrowed>, OfPolicies<Given::narrowed>>;
using LeftOut = AllOf<OfRecipe<WholeRecipe, Given::not_at_all>, OfPolicies<Given::not_at_all>>;
struct NarrowedChanges : GateChanges<Narrowed> {};
struct LeftOutChanges : GateChanges<LeftOut> {};
struct EncoderChanges : GateChanges<Each<OfModelField, Given::narrowed, n_fields(Encoder::model)>, Encoder> {};
using SweptNarrowed = Sweep<NarrowedChanges>;
using SweptLeftOut = Sweep<LeftOutChanges>;
using SweptEncoder = Sweep<EncoderChanges>;
[[maybe_unused]] const int told = SweptNarrowed::tell() + SweptLeftOut::tell();

/// Whether each field may be left out, in the order of the changes.
constexpr auto optional_fields = [] {
  std::array<bool, SweptLeftOut::n_changes> optional{};
  int n = 0;
  const auto add = [&](const auto& spec) {
    for (int i = 0; i < n_fields(spec); ++i) optional[n++] = may_be_left_out(spec, i);
  };
  add(WholeRecipe::model);
  add(WholeRecipe::mesh);
  add(WholeRecipe::expect);
  add(WholeRecipe::budget);
  add(low_rank);
  add(shape);
  add(mixture);
  return optional;
}();

TEST_CASE("the encoder whose fields are to be narrowed breaks nothing") {
  INFO(text(SweptEncoder::broken<Encoder>));
  CHECK(SweptEncoder::broken<Encoder>.n == 0);
}

TEST_CASE("a field that is given as what its type cannot hold breaks one rule") {
  const auto check = [](const auto& all) {
    for (const Broken& broken : all) {
      INFO(text(broken));
      CHECK(broken.n == 1);
      CHECK(broken.ids[0] == "SPEC-02");
    }
  };
  check(SweptNarrowed::alone);
  check(SweptEncoder::alone);
}

TEST_CASE("a field that has no default and is left out breaks one rule") {
  int n_needed = 0;
  for (int i = 0; i < SweptLeftOut::n_changes; ++i) {
    const Broken& broken = SweptLeftOut::alone[i];
    INFO("field " << i << ": " << text(broken));
    if (!optional_fields[i]) {
      ++n_needed;
      CHECK(broken.n == 1);
      CHECK(broken.ids[0] == "SPEC-01");
    }
  }
  CHECK(n_needed == 5 + 1 + 3 + 2 + 2);  // of model, expect, budget, adapters and mixture
}

TEST_CASE("two fields of different specs break the rules of both") {
  SweptNarrowed swept;
  swept.check_pairs();
  CHECK(SweptNarrowed::selected.n == 7);
  CHECK(swept.n_of_one_stage == 6);   // the recipe's own specs
  CHECK(swept.n_pairs == 6 + 4 + 1);  // and each with the adapters', and these with the shape
}

}  // namespace fields_sweep
