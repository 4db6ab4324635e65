// Rules about adapters' values.
#include "sweep.hpp"

namespace {

using namespace monomorph;
using namespace monomorph::testing;

struct Base {
  static constexpr LowRankSpec spec{.rank = 4, .alpha = 8, .targets = {.value = false}};
};
template <int field, int i> struct LowRankField {
  template <class A> struct in : A { static constexpr LowRankSpec spec = changed(A::spec, field, i); };
};

struct LowRanks {
  using Base = ::Base;
  static constexpr int n_changes = n_fields(Base::spec) * n_values;
  template <int i> using Change = LowRankField<i / n_values, i % n_values>;
  template <class A> static consteval auto rules() { return rule::rules_of_low_rank<A::spec, 64>(); }
  template <class A> static consteval int stage() { return 1; }
  static constexpr bool is_paired(int, int) { return true; }
  static constexpr bool overlap(int a, int b) { return a / n_values == b / n_values; }
};
using Swept = Sweep<LowRanks>;
[[maybe_unused]] const int told = Swept::tell();

}  // namespace

TEST_CASE("the adapters to break break nothing") {
  INFO(text(Swept::broken<Base>));
  CHECK(Swept::broken<Base>.n == 0);
}

TEST_CASE("each rule about adapters' values is broken alone by one change") {
  Broken found;
  for (int i = 0; i < Swept::selected.n; ++i) found.add(Swept::alone[Swept::selected.changes[i]].names[0], {});
  INFO(text(found));
  for (const char* rule : {"RankWithinWidth", "AlphaIsPositive", "AdapterDropoutIsProbability", "AdaptsSomething"})
    CHECK(found.has(std::string("monomorph::rule::") + rule));
  CHECK(found.n == 4);
}

TEST_CASE("two changes of adapters break the rules of both") {
  Swept swept;
  swept.check_pairs();
  CHECK(swept.n_pairs == 6);
}
