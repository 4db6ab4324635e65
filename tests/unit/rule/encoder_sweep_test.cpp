// Rules about recipes of encoders. Those that encoders share with decoders are paired in sweep_test.cpp.
#include "sweep.hpp"

namespace {

using namespace monomorph;
using namespace monomorph::testing;

struct Base {
  static constexpr EncoderSpec model{.vocab_size = 300,
                                     .n_layers = 6,
                                     .n_heads = 4,
                                     .d_model = 64,
                                     .context_length = 64,
                                     .pooling = Pooling::mean,
                                     .d_embedding = 32,
                                     .n_kv_heads = 2,
                                     .vocab_multiple = 16,
                                     .activation = Activation::swiglu,
                                     .position = Position::rotary,
                                     .rotary = {.scaling = {.factor = 2, .original_context = 32}}};
  static constexpr MeshSpec mesh{};
  static constexpr Budget budget{.ranks = 8, .bytes_per_rank = gib(1), .micro_batch = 1};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = optim::AdamW;
  using objective = monomorph::objective::ContrastivePairs;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
};

using Policies = std::tuple<Pursuing<objective::NextToken>, Attending<attention::Bidirectional>,
                            Attending<attention::PerDocument<attention::Causal>>>;

struct Encoders : RecipeChanges<Base, Policies> {
  /// Of the fields that DecoderSpec has not, which follow its five required ones, and of policies.
  static constexpr bool is_own(int change) {
    return (5 <= change / n_values && change / n_values < 8) || change >= spec_changes;
  }
  static constexpr bool is_paired(int a, int b) { return is_own(a) || is_own(b); }
  /// Those of the head stand on the others, and are told when these hold.
  template <class R> static consteval auto rules() {
    using Values = decltype(rule::value_rules<R>());
    if constexpr (!Values::all_hold)
      return Values{};
    else
      return rule::EmbeddingRules<R>{};
  }
  template <class R> static consteval int stage() { return decltype(rule::value_rules<R>())::all_hold ? 2 : 1; }
};
using Swept = Sweep<Encoders>;
[[maybe_unused]] const int told = Swept::tell();

}  // namespace

TEST_CASE("the encoder to break breaks nothing") {
  INFO(text(Swept::broken<Base>));
  CHECK(Swept::broken<Base>.n == 0);
}

TEST_CASE("the rules of encoders are broken alone by one change") {
  Broken found;
  for (int i = 0; i < Swept::selected.n; ++i)
    if (Encoders::is_own(Swept::selected.changes[i])) found.add(Swept::alone[Swept::selected.changes[i]].names[0], {});
  INFO(text(found));
  for (const char* rule :
       {"EmbeddingWidthInRange", "EmbeddingsHaveObjective", "PooledTokensSeeText", "TextsAreKeptApart"})
    CHECK(found.has(std::string("monomorph::rule::") + rule));
  CHECK(Swept::selected.n >= 36);
}

TEST_CASE("two changes of an encoder break the rules of both") {
  Swept swept;
  swept.check_pairs();
  CHECK(swept.n_pairs > 100);
}
