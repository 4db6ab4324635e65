#include <monomorph/block/autograd_block.hpp>
#include <monomorph/plan/fingerprint.hpp>
#include <set>
#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {

/// Names within a recipe count without the recipe's own: those of `precision` below are all "*::precision".
struct Control : ByHand {
  struct sharding : monomorph::sharding::FullShard {};
  struct precision : monomorph::precision::Fp32 {};
  struct checkpointing : monomorph::checkpointing::KeepAll {};
  struct optimizer : optim::AdamW {};
};
struct SameAgain : ByHand {
  struct sharding : monomorph::sharding::FullShard {};
  struct precision : monomorph::precision::Fp32 {};
  struct checkpointing : monomorph::checkpointing::KeepAll {};
  struct optimizer : optim::AdamW {};
};
struct KeepsParameters : Control {
  struct sharding : monomorph::sharding::ShardGradOp {};
};
struct ShardsInPairs : Control {
  struct sharding : monomorph::sharding::HybridShard<2> {};
};
struct ComputesInBf16 : Control {
  struct precision : monomorph::precision::Fp32 {
    static constexpr DType compute_dtype = DType::bf16;
  };
};
struct AccumulatesInBf16 : Control {
  struct precision : monomorph::precision::Fp32 {
    static constexpr DType gradient_dtype = DType::bf16;
  };
};
struct ReducesInBf16 : Control {
  struct precision : monomorph::precision::Fp32 {
    static constexpr DType reduce_dtype = DType::bf16;
  };
};
struct UpdatesInFp64 : Control {
  struct precision : monomorph::precision::Fp32 {
    static constexpr DType master_dtype = DType::fp64;
  };
};
struct RecomputesFirst : Control {
  struct checkpointing : monomorph::checkpointing::EveryNthBlock<2> {};
};
struct RecomputesAll : Control {
  struct checkpointing : monomorph::checkpointing::EveryBlock {};
};
struct DecaysNorms : Control {
  struct optimizer : optim::AdamWDecaying<optim::WeightDecayClasses{.norm = true}> {};
};

/// One tensor, and a second where `tensors` is 2; the second block's starts as `later` says.
struct Tensors {
  std::string_view name = "weight";
  Shape shape{64, 64};
  ParameterClass parameter_class = ParameterClass::linear;
  Initializer first{.std = 0.02}, later{.std = 0.02};
  int tensors = 1;
};
template <class R> struct BlockOf : AutogradBlock<BlockOf<R>> {
  struct Params : ParameterLayout {
    constexpr explicit Params(int block = 0) {
      constexpr Tensors given = R::tensors;
      for (int i = 0; i < given.tensors; ++i)
        take_tensor(given.name, given.shape, given.parameter_class, block == 0 ? given.first : given.later);
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct Blocks : ByHand {
  static constexpr Tensors tensors{};
  using layers = Stack<Run<BlockOf, 2>>;
};
struct OtherName : Blocks {
  static constexpr Tensors tensors{.name = "gate"};
};
struct OtherShape : Blocks {
  static constexpr Tensors tensors{.shape = {32, 128}};
};
struct OtherClass : Blocks {
  static constexpr Tensors tensors{.parameter_class = ParameterClass::norm};
};
struct OtherFirst : Blocks {
  static constexpr Tensors tensors{.first = {.std = 0.03}};
};
struct OtherLater : Blocks {
  static constexpr Tensors tensors{.later = {.std = 0.03}};
};
struct OtherCutoff : Blocks {
  static constexpr Tensors tensors{.first = {.std = 0.02, .cutoff = 3}};
};
struct OneMore : Blocks {
  static constexpr Tensors tensors{.tensors = 2};
};

template <class... Recipes> std::size_t n_different() {
  return std::set<std::uint64_t>{plan::fingerprint<Recipes>...}.size();
}

}  // namespace

TEST_CASE("a policy that says something else under the same name changes the fingerprint") {
  CHECK(plan::fingerprint<SameAgain> == plan::fingerprint<Control>);
  CHECK(n_different<Control, KeepsParameters, ShardsInPairs, ComputesInBf16, AccumulatesInBf16, ReducesInBf16,
                    UpdatesInFp64, RecomputesFirst, RecomputesAll, DecaysNorms>() == 10);
}

TEST_CASE("a block of other tensors under the same name changes the fingerprint") {
  CHECK(n_different<Blocks, OtherName, OtherShape, OtherClass, OtherFirst, OtherLater, OtherCutoff, OneMore>() == 8);
}
