// The floating-point operations that the plan says of a recipe, against those of the products that a step of it gives
// to its queue.
#include "support/counting_queue.hpp"

#include "distributed/encoder_like.hpp"
#include "numerics/low_rank_recipes.hpp"
#include "numerics/preferences.hpp"
#include "numerics/schedule_recipes.hpp"
#include "numerics/teacher.hpp"
#include "support/adamw_update.hpp"
#include "support/predicted_operations.hpp"
#include "support/ranks.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <cmath>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

using counting::Counted;

constexpr std::int64_t micro_batch = 2;

/// Rows of one document each, unless an objective compares its sequences.
template <class R> train::MicroBatch whole_rows(std::int64_t first) {
  if constexpr (is_over_sequences<objective_of<R>>) return batch_from<R>(first);
  train::MicroBatch batch = batch_from<R>(first);
  batch.document_starts = nullptr;
  return batch;
}

/// Per token of a rank, in a step of two micro-batches, which batch(first row) makes.
template <Recipe R> Counted count_step(Communicator& communicator, auto batch) {
  train::Step<R> step(communicator, micro_batch, 3);
  const auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  if constexpr (has_teacher<objective_of<R>>) give_teacher(step);
  counting::counted() = {};
  for (const std::int64_t i : {0, 1}) step.accumulate(batch(2 * i), 1, {.index = i, .count = 2});
  step.read(step.decide({}));
  step.update(hparams, {});
  const double tokens = 2.0 * micro_batch * static_cast<double>(trunk_of<R>.context_length.value);
  return {counting::counted().products / tokens, counting::counted().attention / tokens};
}

bool equal(double counted, double planned) { return std::abs(counted / planned - 1) < 1e-12; }

template <Recipe R> void check() {
  CAPTURE(monomorph::type_name<R>());
  using Counting = On<R, counting::Device>;
  const Counted counted = count_step<Counting>(*one_rank(), whole_rows<Counting>);
  constexpr plan::FlopsPerToken planned = plan::flops_per_token<Counting>(micro_batch);
  CAPTURE(counted.products, counted.attention, planned.exact, planned.hardware);
  CHECK(equal(counted.all(), planned.hardware));
}

template <class R, class Policy> struct With : R { using checkpointing = Policy; };
/// What is computed again is counted, and the model needs no more for it.
template <Recipe R, class Policy> void check_again() {
  CAPTURE(monomorph::type_name<Policy>());
  check<With<R, Policy>>();
  constexpr plan::FlopsPerToken all_kept = plan::flops_per_token<R>();
  STATIC_REQUIRE(all_kept.hardware == all_kept.exact);
  STATIC_REQUIRE(plan::flops_per_token<With<R, Policy>>().exact == all_kept.exact);
}

/// Where rows are of several documents attention sees fewer pairs, which the plan does not know.
/// @param seen_pairs of a row of one document
template <Recipe R> void check_products(const Counted& counted, int ranks, double seen_pairs) {
  constexpr const auto& model = trunk_of<R>;
  const double planned = plan::flops_per_token<R>(micro_batch, ranks).hardware,
               attention = 3.0 * 4 * model.n_layers * model.d_model * seen_pairs / model.context_length;
  CAPTURE(ranks, counted.products, counted.attention, planned, attention);
  CHECK(equal(counted.products, planned - attention));
  CHECK(counted.attention < attention);
}

struct Masked : llama_like {
  using layers = Stack<Run<DecoderBlockWith<attention::SlidingWindow<5>>::Block, 1>, Run<DecoderBlock, 1>,
                       Run<DecoderBlockWith<attention::Prefix<9>>::Block, 2>>;
};
struct TwoShapes : llama_like {
  using layers = Stack<Run<Shaped<BlockShape{.n_heads = 2, .d_ff = 48}>::Block, 1>, Run<DecoderBlock, 3>>;
};
inline constexpr MixtureSpec dropless{.n_experts = 4, .top_k = 2, .d_expert = 24, .n_shared = 1, .bias_rate = 0.001};
inline constexpr MixtureSpec half_of_pairs{.n_experts = 4, .top_k = 2, .d_expert = 24, .capacity_factor = 0.5};
template <MixtureSpec spec> struct Experts : llama_like {
  using layers = Stack<Run<Mixture<spec>::template Block, 4>>;
};
template <BlockOrder order> struct Ordered : llama_like {
  using layers = Stack<Run<Composed<order>::template Block, 4>>;
};
struct HalfFrozen : llama_like {
  using finetuning = finetuning::FreezeFirst<2>;
};
inline constexpr MixtureSpec gated{.n_experts = 4, .top_k = 2, .d_expert = 24};
struct Gates {
  static constexpr ParameterSelector parameters[] = {"*.mlp.experts.gate.weight"};
};
struct FrozenGates : Experts<gated> {
  using finetuning = finetuning::Freeze<Gates>;
};
struct Norms {
  static constexpr ParameterSelector parameters[] = {ParameterClass::norm};
};
struct NormsOnly : llama_like {
  using finetuning = finetuning::TrainOnly<Norms>;
};
struct Fp8 : gpt2_like {
  static constexpr DecoderSpec model{
      .vocab_size = 50, .n_layers = 2, .n_heads = 2, .d_model = 32, .context_length = 16, .d_ff = 64};
  using precision = monomorph::precision::Fp8Mixed;
};
struct TeacherOfLlama {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = gpt2_like::model;
    model.n_layers = 2;
    model.vocab_multiple = 1;
    return model;
  }();
};
struct InChunks : counting::Device {
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t) { return 16; }
};
struct Names {
  static constexpr ParameterSelector parameters[] = {"layers.*.mlp.*", ParameterClass::norm, "layers.0.*",
                                                     ParameterClass::embedding};
};
struct FrozenInPart : llama_like {
  using finetuning = finetuning::Freeze<Names>;
};

}  // namespace

TEST_CASE("the plan's operations are those of the products of a step: dense decoders") {
  check<gpt2_like>();
  check<llama_like>();
  check<Fp8>();
  check<TaughtBy<llama_like, TeacherOfLlama>>();
}
TEST_CASE("predictions of a step go by its operations, those of a teacher among them") {
  const auto check = []<class R>(R) {
    CAPTURE(monomorph::type_name<R>());
    using Counting = On<R, counting::Device>;
    const Counted counted = count_step<Counting>(*one_rank(), whole_rows<Counting>);
    CHECK(equal(predicted_operations(plan::planned_recipe<InBf16<Counting>>(), micro_batch, 2), counted.all()));
  };
  check(llama_like{});
  check(TaughtBy<llama_like, TeacherOfLlama>{});
}
TEST_CASE("the plan's operations are those of the products of a step: masks and shapes of single blocks") {
  check<Masked>();
  check<TwoShapes>();
}
TEST_CASE("the plan's operations are those of the products of a step: experts") { check<Experts<dropless>>(); }
TEST_CASE("the plan counts pairs of a token and an expert that a capacity drops, which a step does not compute") {
  using Counting = On<Experts<half_of_pairs>, counting::Device>;
  const Counted counted = count_step<Counting>(*one_rank(), whole_rows<Counting>);
  // There is room for one of two pairs of a token. No expert has a token twice, so that at least two of four are full:
  // one pair of two tokens is computed. A pair is three matrices of 24 x 32, forward and backward, in four blocks.
  const double planned = plan::flops_per_token<Counting>().hardware, pair = 4 * 3.0 * (3 * 2 * 24 * 32);
  CHECK(counted.all() <= planned - pair + 1e-6);
  CHECK(counted.all() >= planned - 1.5 * pair - 1e-6);
}
TEST_CASE("the plan's operations are those of the products of a step: what is frozen, and adapters") {
  check<HalfFrozen>();
  check<FrozenInPart>();
  check<NormsOnly>();
  check<FrozenGates>();
  check<Adapted<llama_like, everywhere>>();
  check<Adapted<gpt2_like, queries_and_values>>();
}
TEST_CASE("the plan's operations are those of the products of a step: what backward computes again") {
  using checkpointing::EveryBlock, checkpointing::RecomputeCheap, checkpointing::Selective;
  check_again<llama_like, EveryBlock>();
  check_again<llama_like, RecomputeCheap>();
  check_again<Experts<dropless>, EveryBlock>();
  check_again<Adapted<llama_like, everywhere>, EveryBlock>();
  check_again<HalfFrozen, EveryBlock>();
  check_again<Ordered<BlockOrder::parallel>, EveryBlock>();
  check_again<Ordered<BlockOrder::sandwich_norm>, Selective<Recompute{.attention = true, .projection = true}>>();
}
TEST_CASE("the plan's operations are those of the products of a step: logits that are made twice") {
  using Counting = On<Preferring<gpt2_like>, InChunks>;
  check_products<Counting>(count_step<Counting>(*one_rank(), whole_rows<Counting>), 1, 24 * 25 / 2);
}

TEST_CASE("the plan's operations are those of the products of a step: encoders, which compare those of all ranks") {
  using Counting = On<encoder_like, counting::Device>;
  constexpr std::int64_t T = Counting::model.context_length;
  const Sequences rows = pairs();
  for (const int ranks : {1, 2}) {
    std::vector<Counted> counted(ranks);
    with_ranks(ranks, [&](const World& world) {
      const auto communicator = world.communicator(Counting::sharding::optimizer_shards(ranks), DType::fp32);
      counted[world.rank()] =
          count_step<Counting>(*communicator, [&](std::int64_t first) { return rows.from(first, T); });
    });
    for (const Counted& of_rank : counted) check_products<Counting>(of_rank, ranks, T * T);
  }
}

}  // namespace monomorph::testing
