#include <algorithm>
#include <monomorph/plan/state_fingerprint.hpp>
#include <vector>
#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {

constexpr DecoderSpec changed(auto change) {
  DecoderSpec model = ByHand::model;
  change(model);
  return model;
}
constexpr DecoderSpec deeper = changed([](DecoderSpec&model) { model.n_layers = 3; }),
                      wider = changed([](DecoderSpec&model) { model.d_ff = 512; }),
                      said_aloud = changed([](DecoderSpec&model) {
                        model.n_kv_heads = 2;
                        model.head_dim = 32;
                        model.d_ff = 256;
                      });

struct InBf16 : ByHand {
  using precision = monomorph::precision::Bf16Pure;
};
struct DecaysAll : ByHand {
  using optimizer = optim::AdamWDecaying<optim::WeightDecayClasses{.norm = true, .bias = true}>;
};
struct OtherObjective : ByHand {
  struct objective : monomorph::objective::NextToken {};
};
struct Documents : ByHand {
  using attention = monomorph::attention::WithinDocuments;
};
struct OtherBlock : ByHand {
  template <class R> struct Block : DecoderBlock<R> {};
  using layers = Stack<Run<DecoderBlock, 1>, Run<Block, 1>>;
};
struct OtherOrder : ByHand {
  using layers = Stack<Run<OtherBlock::Block, 1>, Run<DecoderBlock, 1>>;
};

struct ComputingInFp16 : ByHand {
  using precision = monomorph::precision::Fp16Mixed;
};
struct Frozen : ByHand {
  using finetuning = monomorph::finetuning::FreezeFirst<1>;
};
struct OnHost : ByHand {
  using optimizer = optim::HostState<optim::AdamW>;
  using checkpointing = monomorph::checkpointing::Offload<>;
};
struct Divided : ByHand {
  using sharding = monomorph::sharding::Replicate;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  static constexpr Expect expect{.params = 1};
  static constexpr Budget budget{.ranks = 2, .bytes_per_rank = 3, .micro_batch = 4};
};

struct Observed : ByHand {
  struct schedule : monomorph::schedule::WarmupDecay {};
  struct observer {
    static bool wants(std::int64_t) { return true; }
    static void observe(const auto& /*step*/, auto& /*records*/) {}
  };
};

bool all_differ(std::vector<std::uint64_t> fingerprints) {
  std::sort(fingerprints.begin(), fingerprints.end());
  return std::adjacent_find(fingerprints.begin(), fingerprints.end()) == fingerprints.end();
}

}  // namespace

TEST_CASE("the state's fingerprint changes with what the state is and means") {
  using plan::state_fingerprint;
  CHECK(all_differ({state_fingerprint<ByHand>, state_fingerprint<Of<deeper>>, state_fingerprint<Of<wider>>,
                    state_fingerprint<InBf16>, state_fingerprint<DecaysAll>, state_fingerprint<OtherObjective>,
                    state_fingerprint<Documents>, state_fingerprint<OtherBlock>, state_fingerprint<OtherOrder>,
                    state_fingerprint<Frozen>}));
}

TEST_CASE("the state's fingerprint does not change with how the work is divided, nor with what dtype computes") {
  STATIC_REQUIRE(plan::state_fingerprint<ComputingInFp16> == plan::state_fingerprint<ByHand>);
  STATIC_REQUIRE(plan::fingerprint<ComputingInFp16> != plan::fingerprint<ByHand>);
  STATIC_REQUIRE(plan::state_fingerprint<Divided> == plan::state_fingerprint<ByHand>);
  STATIC_REQUIRE(plan::fingerprint<Divided> != plan::fingerprint<ByHand>);
  STATIC_REQUIRE(plan::state_fingerprint<OnHost> == plan::state_fingerprint<ByHand>);
  STATIC_REQUIRE(plan::fingerprint<OnHost> != plan::fingerprint<ByHand>);
}

TEST_CASE("the state's fingerprint does not change with the schedule, nor with who observes") {
  STATIC_REQUIRE(Recipe<Observed>);
  STATIC_REQUIRE(plan::state_fingerprint<Observed> == plan::state_fingerprint<ByHand>);
  STATIC_REQUIRE(plan::fingerprint<Observed> != plan::fingerprint<ByHand>);
}

TEST_CASE("the state's fingerprint does not change when a derived size is said aloud") {
  STATIC_REQUIRE(plan::state_fingerprint<Of<said_aloud>> == plan::state_fingerprint<ByHand>);
}
