// Rules about mixtures of experts.
#include "sweep.hpp"

namespace {

using namespace monomorph;
using namespace monomorph::testing;

struct Base {
  static constexpr MixtureSpec spec{
      .n_experts = 4, .top_k = 2, .d_expert = 32, .capacity_factor = 1.5, .z_loss = 0.001};
  static constexpr bool bias = false;
};

struct WithBias {
  template <class M> struct in : M { static constexpr bool bias = true; };
};
template <int field, int i> struct MixtureField {
  template <class M> struct in : M { static constexpr MixtureSpec spec = changed(M::spec, field, i); };
};

struct Mixtures {
  using Base = ::Base;
  static constexpr int field_changes = n_fields(Base::spec) * n_values, n_changes = field_changes + 1;
  template <int i> static constexpr auto change_at() {
    if constexpr (i < field_changes)
      return MixtureField<i / n_values, i % n_values>{};
    else
      return WithBias{};
  }
  template <int i> using Change = decltype(change_at<i>());
  template <class M> static consteval auto rules() {
    return rule::mixture_rules<M::spec, M::spec.d_expert.value, M::bias>();
  }
  static constexpr bool is_paired(int, int) { return true; }
  static constexpr bool overlap(int a, int b) {
    return a < field_changes && b < field_changes && a / n_values == b / n_values;
  }
  template <class M> static consteval int stage() { return 1; }
};
using Swept = Sweep<Mixtures>;
[[maybe_unused]] const int told = Swept::tell();

}  // namespace

TEST_CASE("the mixture to break breaks nothing") {
  INFO(text(Swept::broken<Base>));
  CHECK(Swept::broken<Base>.n == 0);
}

TEST_CASE("each rule of mixtures is broken alone by one change") {
  Broken found;
  for (int i = 0; i < Swept::selected.n; ++i) found.add(Swept::alone[Swept::selected.changes[i]].names[0], {});
  INFO(text(found));
  CHECK(Swept::selected.n == 9);
}

TEST_CASE("two changes of a mixture break the rules of both") {
  Swept swept;
  swept.check_pairs(
      {{"TopExpertsInRange", "ExpertsInRange", "top_k is compared with experts that are there"},
       {"CapacityInRange", "TopExpertsInRange", "its bound is made of a top_k that is in range"},
       {"CapacityInRange", "SingleExpertKeepsScore", "the fewer experts a token has, the higher its bound"}});
  CHECK(swept.n_pairs == 36);
}
